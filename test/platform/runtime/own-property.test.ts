import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ownProperty } from '../../../lib/platform/runtime/own-property.ts'

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
