import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keptSize, listsSize, SET_ITEM } from '../../lib/tokens/kept-size.ts'

/** The estimate is the bound of the caches, so that it does not change unnoticed. */
const SIZES: readonly [json: string, bytes: number][] = [
  ['null', 24],
  ['0.5', 24],
  ['true', 24],
  ['""', 24],
  ['"abc"', 30],
  ['[]', 80],
  ['["abc",0]', 80 + 8 + 30 + 8 + 24],
  ['{}', 192],
  ['{"a":"b"}', 192 + 128 + 26 + 26],
  ['{"a":[],"b":{}}', 192 + 128 + 26 + 80 + 128 + 26 + 192],
]

for (const [json, bytes] of SIZES) {
  test(`${json} is said to keep ${bytes} bytes alive`, () => {
    assert.equal(keptSize(JSON.parse(json)), bytes)
  })
}

const LISTS: readonly [lists: readonly (readonly unknown[])[], more: number, bytes: number][] = [
  [[], 0, 192],
  [[], 5, 192],
  [[[]], 0, 192 + 128 + 80],
  [[['a:b', 'c:d'], []], 0, 192 + 2 * (128 + 80) + 8 * 2],
  [[['a:b', 'c:d'], []], 3, 192 + 2 * (128 + 80) + 8 * 8],
]

for (const [lists, more, bytes] of LISTS) {
  test(`lists of ${lists.map(({ length }) => length + more)} items are said to keep ${bytes} bytes`, () => {
    assert.equal(listsSize(lists, more), bytes)
  })
}

test('an item of a set is said to keep 56 bytes alive', () => {
  assert.equal(SET_ITEM, 56)
})
