import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HashIndex, type Indexed } from '../../lib/outside/hash-index.ts'

interface Item extends Indexed<Item> {
  readonly hash: number
}

/** With an item for each hash. */
function filled(hashes: readonly number[]): { index: HashIndex<Item>; items: Item[] } {
  const index = new HashIndex<Item>()
  const items = hashes.map((hash): Item => ({ hash, next: undefined }))
  for (const item of items) index.add(item)
  return { index, items }
}

const NUMBERS = Array.from({ length: 1000 }, (_, i) => Math.imul(i, 0x9e3779b1))

/** All at one place, however many places there are. */
const ALIKE = Array.from({ length: 200 }, (_, i) => i << 20)

for (const [what, hashes] of [
  ['spread', NUMBERS],
  ['at one place', ALIKE],
] as const) {
  test(`things that are ${what} are found by their hashes, and none by another one`, () => {
    const { index, items } = filled(hashes)
    assert.equal(index.size, hashes.length)
    for (const item of items) assert.equal(index.find(item.hash), item)
    assert.equal(index.find(0x7fffffff), undefined)
  })

  test(`a thing that is ${what} and goes is not found, and the others are`, () => {
    const { index, items } = filled(hashes)
    const isGone = (at: number) => at % 3 === 0
    const gone = items.filter((_, at) => isGone(at))
    for (const item of gone) index.delete(item)
    assert.equal(index.size, items.length - gone.length)
    for (const [at, item] of items.entries()) {
      assert.equal(index.find(item.hash), isGone(at) ? undefined : item)
    }
  })
}

test('things of one hash follow each other, and each of them can go', () => {
  const { index, items } = filled([7, 7, 7])
  const there = () => {
    const found: Item[] = []
    for (let item = index.find(7); item !== undefined; item = item.next) found.push(item)
    return new Set(found)
  }
  assert.deepEqual([index.size, there().size], [3, 3])
  for (const [at, item] of items.entries()) {
    index.delete(item)
    assert.deepEqual([there().has(item), there().size], [false, 2 - at])
  }
})

for (const leaving of [0, 1, 2, 3]) {
  test(`of four things at one place, number ${leaving} can go and come again`, () => {
    const { index, items } = filled(ALIKE.slice(0, 4))
    const [item] = items.splice(leaving, 1)
    assert.ok(item, 'there are four')
    index.delete(item)
    assert.deepEqual([index.size, item.next, index.find(item.hash)], [3, undefined, undefined])
    index.add(item)
    for (const each of [...items, item]) assert.equal(index.find(each.hash), each)
  })
}

test('a thing in no index takes none of the others away', () => {
  const { index, items } = filled(ALIKE.slice(0, 3))
  const [item, ...others] = items
  assert.ok(item, 'there are three')
  for (const gone of [item, item, { hash: ALIKE[5] ?? 0, next: undefined }]) index.delete(gone)
  assert.equal(index.size, 2)
  for (const each of others) assert.equal(index.find(each.hash), each)
})

for (const count of [64, 128, 1024]) {
  test(`of ${count} things with hashes in a row, each is the only one at its place`, () => {
    const index = new HashIndex<Item>()
    let looks = 0
    for (let at = 0; at < count; at++) {
      index.add({
        get hash() {
          looks += 1
          return at
        },
        next: undefined,
      })
    }
    looks = 0
    for (let at = 0; at < count; at++) assert.equal(index.find(at)?.hash, at)
    assert.equal(looks, 2 * count, 'one look to find it, and one by the test')
  })
}
