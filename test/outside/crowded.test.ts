import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCrowded } from '../../lib/outside/crowded.ts'

for (const mark of ['[', '{', ',']) {
  test(`64 times ${mark} is no crowd, and 65 times is one`, () => {
    const text = (times: number) => `x${`${mark}x`.repeat(times)}`
    assert.deepEqual([isCrowded(text(64)), isCrowded(text(65))], [false, true])
  })
}

test('marks of each kind count together', () => {
  assert.deepEqual([isCrowded('[{,'.repeat(21)), isCrowded('[{,'.repeat(22))], [false, true])
})
