import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '../../lib/outside/is-object.ts'

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
