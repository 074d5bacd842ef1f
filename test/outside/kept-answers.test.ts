import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeptAnswers } from '../../lib/outside/kept-answers.ts'

const kept = (answer: number) => ({ answer, freshUntil: 1, goodUntil: 2, isFailing: false })

test('an answer is found by its key, the newer one in the place of the older', () => {
  const answers = new KeptAnswers<number>(10)
  answers.set('a', kept(1))
  answers.set('a', kept(2))
  assert.deepEqual(answers.get('a'), kept(2))
  for (const key of ['b', '', 'constructor', '__proto__']) {
    assert.equal(answers.get(key), undefined, key)
  }
  answers.delete('a')
  answers.delete('b')
  assert.equal(answers.get('a'), undefined)
})

test('where the table is full, the oldest answer goes', () => {
  const answers = new KeptAnswers<number>(2)
  const there = () => ['a', 'b', 'c'].filter((key) => answers.get(key) !== undefined).join('')
  answers.set('a', kept(1))
  answers.set('b', kept(2))
  answers.set('b', kept(3))
  assert.equal(there(), 'ab', 'an answer that is set again needs no room')
  answers.set('a', kept(4))
  answers.set('c', kept(5))
  assert.equal(there(), 'ac', 'b was set before a was set again')
})
