import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject, ownProperty } from '../../../lib/platform/runtime/own-property.ts'

for (const value of [{}, { a: 1 }, Object.create(null), new Map(), Object('text')]) {
  test(`${Object.prototype.toString.call(value)} is an object`, () => {
    assert.equal(isObject(value), true)
  })
}

for (const value of [null, undefined, [], [{}], 'text', 1, true, () => {}]) {
  test(`${typeof value} ${JSON.stringify(value)} is not an object`, () => {
    assert.equal(isObject(value), false)
  })
}

const INHERITED = ['constructor', 'toString', 'hasOwnProperty', '__proto__', 'valueOf']

for (const name of INHERITED) {
  test(`ownProperty does not find ${name} if the object only inherits it`, () => {
    assert.equal(ownProperty({}, name), undefined)
  })
  test(`ownProperty finds ${name} if the object has it itself`, () => {
    const parsed: object = JSON.parse(`{"${name}":"own"}`)
    assert.equal(ownProperty(parsed, name), 'own')
  })
}

test('ownProperty finds no member under __proto__', () => {
  const parsed: object = JSON.parse('{"__proto__":{"sub":"alice"}}')
  assert.equal(ownProperty(parsed, 'sub'), undefined)
  assert.equal(ownProperty(Object.create({ sub: 'alice' }), 'sub'), undefined)
})

test('ownProperty calls no getter', () => {
  const trap = {
    get sub(): string {
      throw new Error('called')
    },
  }
  assert.equal(ownProperty(trap, 'sub'), undefined)
})
