import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWithin, lettersOf, nearestName } from '../../lib/config/did-you-mean.ts'

for (const [name, letters] of [
  ['Keys_Max-Age', 'keysmaxage'],
  ['"auth"', 'auth'],
  ['a\u200bu\u00adt\ufeffh\u00a0', 'auth'],
  ['\uff21\uff35\uff34\uff28', 'auth'],
  ['\u00c1uth', 'auth'],
  ['__proto__', 'proto'],
  ['=;#', ''],
] as const) {
  test(`the letters of ${JSON.stringify(name)} are ${letters || 'none'}`, () => {
    assert.equal(lettersOf(name), letters)
  })
}

for (const [a, b, edits] of [
  ['auth', 'auth', 0],
  ['auth', 'oauth', 1],
  ['auth', 'aut', 1],
  ['auth', 'auto', 1],
  ['auth', 'auht', 1],
  ['auth', 'author', 2],
  ['auth', 'uaht', 2],
  ['tenants', 'tenancy', 2],
  ['', 'abc', 3],
] as const) {
  test(`${a || 'an empty name'} and ${b} are ${edits} edits apart, either way`, () => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      assert.equal(isWithin(edits, from, to), true)
      assert.equal(edits > 0 && isWithin(edits - 1, from, to), false)
    }
  })
}

test('the nearest of several names is given, and the first of equals', () => {
  const known = ['keys_max_stale', 'keys_max_age', 'ids']
  assert.equal(nearestName('keysMaxAge', known), 'keys_max_age')
  assert.equal(nearestName('keys_max_aged', known), 'keys_max_age')
  assert.equal(nearestName('id', known), 'ids')
  assert.equal(nearestName('i', known), undefined)
})
