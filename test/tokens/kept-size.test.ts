import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keptSize, listsSize, SET_ITEM } from '../../lib/tokens/kept-size.ts'
import { readUserInfo } from '../../lib/tokens/user-info.ts'
import { usedHeap } from '../helpers/processes/used-heap.ts'

let serial = 0
const name = () => `n${(serial++).toString(36)}`
const list = (length: number, item: () => string) => `[${Array.from({ length }, item).join(',')}]`
const object = (length: number, value: string) =>
  `{${Array.from({ length }, () => `"${name()}":${value}`).join(',')}}`

/** Claims of each kind, as JSON. Claims with a shape of their own cost most. */
const KINDS: readonly [what: string, json: () => string][] = [
  ['few claims', () => `{"sub":"${name()}","iss":"https://a.test","exp":1800000000}`],
  ['a long text', () => `{"sub":"${'x'.repeat(3000)}${name()}"}`],
  ['a long text of other letters', () => `{"sub":"${'狸'.repeat(3000)}${name()}"}`],
  ['short texts', () => `{"sub":"u","x":${list(300, () => `"${name()}"`)}}`],
  ['fractions', () => `{"sub":"u","x":${list(300, () => '0.5')}}`],
  ['fractions among others', () => `{"sub":"u","x":${list(300, () => '0.5,null')}}`],
  ['empty lists', () => `{"sub":"u","x":${list(300, () => '[]')}}`],
  ['empty objects', () => `{"sub":"u","x":${list(300, () => '{}')}}`],
  ['nested lists', () => `{"sub":"u","x":${'['.repeat(60)}${']'.repeat(60)}}`],
  ['tenants of its own', () => `{"sub":"u","resources":${object(100, '["a:b"]')}}`],
  ['thousands of tenants of its own', () => `{"sub":"u","resources":${object(3000, '[]')}}`],
  ['claims of its own', () => `{"sub":"u",${object(100, '0').slice(1)}`],
  ['objects of a shape of their own', () => `{"sub":"u","x":${list(100, () => object(1, '0'))}}`],
]

const SAMPLES = 300

/** Bytes that the process may need for itself meanwhile. */
const NOISE = 500_000

for (const [what, json] of KINDS) {
  test(`claims with ${what} keep no more alive than is said`, () => {
    const kept: unknown[] = [readUserInfo(JSON.parse(json()))]
    let said = 0
    const before = usedHeap()
    for (let i = 0; i < SAMPLES; i++) {
      const claims = readUserInfo(JSON.parse(json()))
      said += keptSize(claims)
      kept.push(claims)
    }
    const grown = usedHeap() - before
    assert.equal(kept.length, SAMPLES + 1)
    assert.ok(grown <= said + NOISE, `${grown} bytes, and ${said} are said`)
  })
}

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
