import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Queue, type Queued } from '../../lib/outside/queue.ts'

interface Item extends Queued<Item> {
  readonly name: string
}

function itemNamed(name: string): Item {
  return { name, older: undefined, newer: undefined }
}

function inOrder(queue: Queue<Item>): string {
  return [...queue].map(({ name }) => name).join('')
}

test('things wait in the order in which they came, whichever of them leaves', () => {
  for (const [leaving, left] of [
    ['', 'abc'],
    ['a', 'bc'],
    ['b', 'ac'],
    ['c', 'ab'],
    ['ac', 'b'],
    ['cba', ''],
  ] as const) {
    const queue = new Queue<Item>()
    const items = ['a', 'b', 'c'].map(itemNamed)
    for (const item of items) queue.add(item)
    for (const item of items.filter(({ name }) => leaving.includes(name))) queue.delete(item)
    assert.equal(inOrder(queue), left, leaving)
    queue.add(itemNamed('d'))
    assert.equal(inOrder(queue), `${left}d`, leaving)
  }
})

test('what has left keeps none of the others, and can wait anew', () => {
  const queue = new Queue<Item>()
  const [a, b, c] = [itemNamed('a'), itemNamed('b'), itemNamed('c')]
  for (const item of [a, b, c]) queue.add(item)
  queue.delete(b)
  assert.deepEqual([b.older, b.newer], [undefined, undefined])
  queue.add(b)
  assert.equal(inOrder(queue), 'acb')
  queue.delete(c)
  queue.delete(a)
  queue.delete(b)
  assert.equal(queue.oldest, undefined)
})

test('what is not in the queue, or has left, takes none of the others away', () => {
  const queue = new Queue<Item>()
  const [a, b, gone] = ['a', 'b', 'x'].map(itemNamed)
  assert.ok(a && b && gone, 'there are three')
  queue.delete(gone)
  queue.add(gone)
  queue.delete(gone)
  queue.add(a)
  queue.add(b)
  queue.delete(gone)
  assert.equal(inOrder(queue), 'ab')
  assert.equal(queue.oldest, a)
})
