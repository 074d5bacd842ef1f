import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flatString, ScratchBuffer } from '../../../lib/platform/runtime/flat-string.ts'
import { usedHeap } from '../../helpers/processes/used-heap.ts'

for (const length of [0, 1, 100, 16_383, 16_384, 16_385, 100_000]) {
  test(`the letters of a text of ${length} are its bytes`, () => {
    const text = 'aü'.repeat(length).slice(0, length)
    const bytes = new ScratchBuffer()
    bytes.of('z'.repeat(16_384))
    assert.deepEqual(bytes.of(text), Buffer.from(text, 'latin1'))
  })
}

test('texts of two places do not meet', () => {
  const [here, there] = [new ScratchBuffer().of('here'), new ScratchBuffer().of('there')]
  assert.deepEqual([here, there].map(String), ['here', 'there'])
})

for (const [length, isThere] of [
  [1, true],
  [16_384, true],
  [16_385, false],
] as const) {
  test(`a text of ${length} letters is${isThere ? '' : ' not'} at the one place`, () => {
    const bytes = new ScratchBuffer()
    const { buffer } = bytes.of('')
    assert.equal(bytes.of('a'.repeat(length)).buffer === buffer, isThere)
  })
}

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
    'a'.repeat(20_000),
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
