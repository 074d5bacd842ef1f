import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mismatch } from '../../lib/tokens/mismatch.ts'

test('the expected text is computed when it is read, and not before', () => {
  let readings = 0
  const expected = {
    *[Symbol.iterator]() {
      readings++
      yield 'a'
      yield undefined
    },
  }
  const read = mismatch('iss', expected, 'b')
  assert.equal(readings, 0)
  assert.deepEqual(read(), { of: 'iss', expected: '"a" or nothing', unverified: '"b"' })
  assert.deepEqual(read(), read())
})

test('the texts are short, and frozen', () => {
  const long = ['x'.repeat(500), 'y'.repeat(500)]
  const texts = mismatch('aud', long, long)()
  assert.deepEqual([texts.expected.length, texts.unverified.length], [100, 100])
  assert.equal(Object.isFrozen(texts), true)
})
