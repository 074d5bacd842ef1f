import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flatString } from '../../../lib/platform/runtime/flat-string.ts'
import { usedHeap } from '../../helpers/processes/used-heap.ts'

test('a copy has every letter of the text', () => {
  for (const text of [
    '',
    'a',
    'header.payload.signature',
    'ü',
    '狸',
    '🦝',
    '\ud800',
    'a\0b\udfff',
    ...[16_383, 16_384, 16_385, 20_000].map((length) => 'aü'.repeat(length).slice(-length)),
    '狸'.repeat(20_000),
  ]) {
    assert.equal(flatString(text), text)
  }
})

for (const [letter, bytes] of [
  ['a', 1],
  ['狸', 2],
] as const) {
  test(`a copy of ${letter} takes ${bytes} bytes a letter, and keeps no longer text alive`, () => {
    const [COUNT, LENGTH] = [200, 1_000]
    const kept: string[] = []
    const before = usedHeap()
    for (let i = 0; i < COUNT; i++) {
      const text = Buffer.from(`${i}${letter.repeat(20 * LENGTH)}`).toString()
      kept.push(flatString(text.slice(0, LENGTH)))
    }
    const each = (usedHeap() - before) / (kept.length * LENGTH)
    assert.ok(each < bytes + 0.5, `${each} bytes`)
  })
}
