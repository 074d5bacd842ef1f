import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnswerCache } from '../../../lib/platform/callbacks/answer-cache.ts'

const kept = (answer: number) => ({
  answer,
  renewAt: 0,
  freshUntil: 1,
  goodUntil: 2,
})

test('an answer is found by its key, the newer one in the place of the older', () => {
  const dropped: number[] = []
  const answers = new AnswerCache<number>(10, (answer) => void dropped.push(answer))
  answers.set('a', kept(1))
  answers.set('a', kept(2))
  assert.deepEqual(answers.get('a'), kept(2))
  for (const key of ['b', '', 'constructor', '__proto__']) {
    assert.equal(answers.get(key), undefined, key)
  }
  answers.delete('a')
  answers.delete('b')
  assert.deepEqual([answers.get('a'), dropped], [undefined, []], 'only a full table drops')
})

test('keys that are long and differ in one letter are kept beside each other', () => {
  const answers = new AnswerCache<number>(100)
  const keyOf = (at: number) => `${'-'.repeat(at)}x${'-'.repeat(99 - at)}`
  for (let at = 0; at < 100; at++) answers.set(keyOf(at), kept(at))
  for (let at = 0; at < 100; at++) assert.equal(answers.get(keyOf(at))?.answer, at)
})

test('when the table is full, the oldest answer goes of those that were not used', () => {
  const dropped: number[] = []
  const answers = new AnswerCache<number>(2, (answer) => void dropped.push(answer))
  answers.set('a', kept(1))
  answers.set('b', kept(2))
  answers.get('a')
  answers.set('c', kept(3))
  assert.deepEqual([dropped, answers.values()], [[2], [1, 3]])
  answers.get('a')
  answers.get('c')
  answers.set('d', kept(4))
  assert.deepEqual(
    [dropped, answers.values()],
    [
      [2, 1],
      [3, 4],
    ],
    'where all were used: the oldest',
  )
})

test('one answer, or each, can be made one that has to be asked for anew', () => {
  const answers = new AnswerCache<number>(2)
  answers.set('a', kept(1))
  answers.set('b', kept(2))
  answers.expire((key) => key === 'a')
  const times = (key: string) => [answers.get(key)?.freshUntil, answers.get(key)?.goodUntil]
  assert.deepEqual(
    [times('a'), times('b')],
    [
      [-Infinity, -Infinity],
      [1, 2],
    ],
  )
  answers.expire(() => true)
  assert.deepEqual(times('b'), [-Infinity, -Infinity])
})

test('a table for no answer keeps none', () => {
  const answers = new AnswerCache<number>(0)
  answers.set('a', kept(1))
  assert.equal(answers.get('a'), undefined)
})

test('an answer that is set again needs no room', () => {
  const answers = new AnswerCache<number>(2)
  const there = () => answers.values().join('')
  answers.set('a', kept(1))
  answers.set('b', kept(2))
  answers.set('b', kept(3))
  assert.equal(there(), '13')
  answers.set('a', kept(4))
  answers.set('c', kept(5))
  assert.equal(there(), '45', 'b was set before a was set again')
})

test('answers keep alive no more than their bound, but one that is above it is kept alone', () => {
  const answers = new AnswerCache<number>(10, () => {}, { most: 10, of: (answer) => answer })
  const there = () => answers.values()
  for (const [key, weight] of [
    ['a', 4],
    ['b', 4],
    ['a', 5],
  ] as const) {
    answers.set(key, kept(weight))
  }
  assert.deepEqual(there(), [4, 5], 'what is replaced weighs no more')
  answers.set('c', kept(1))
  assert.deepEqual(there(), [4, 5, 1], 'up to the bound')
  answers.set('c', kept(2))
  assert.deepEqual(there(), [5, 2])
  answers.set('d', kept(50))
  assert.deepEqual(there(), [50])
  answers.delete('d')
  answers.set('e', kept(10))
  assert.deepEqual(there(), [10])
})
