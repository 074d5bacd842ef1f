import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Keyed, KeyIndex } from '../../lib/outside/key-index.ts'
import { textHash } from '../../lib/outside/text-hash.ts'
import { textsOfOneHash } from '../helpers/arbitraries/texts-of-one-hash.ts'

interface Item extends Keyed<Item> {
  readonly key: string
}

const itemOf = (key: string): Item => ({ key, hash: textHash(key), next: undefined })

test('a thing is found by its whole key', () => {
  const index = new KeyIndex<Item>()
  const items = ['a', 'b', '', '__proto__'].map(itemOf)
  for (const item of items) index.add(item)
  for (const item of items) assert.equal(index.of(item.key), item)
  assert.equal(index.of('c'), undefined)
})

test('things whose keys have one hash stand beside each other, and each goes alone', () => {
  const keys = textsOfOneHash()
  for (const leaving of [0, 1]) {
    const index = new KeyIndex<Item>()
    const items = keys.map(itemOf)
    for (const [at, item] of items.entries()) {
      assert.equal(index.of(item.key), undefined, `number ${at} is not there yet`)
      index.add(item)
    }
    for (const item of items) assert.equal(index.of(item.key), item)
    const [gone] = items.splice(leaving, 1)
    assert.ok(gone, 'there are two')
    index.delete(gone)
    assert.equal(index.of(gone.key), undefined)
    for (const item of items) assert.equal(index.of(item.key), item)
  }
})
