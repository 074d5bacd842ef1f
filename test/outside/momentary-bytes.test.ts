import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MomentaryBytes } from '../../lib/outside/own-text.ts'

for (const length of [0, 1, 100, 16_383, 16_384, 16_385, 100_000]) {
  test(`the letters of a text of ${length} are its bytes`, () => {
    const text = 'aü'.repeat(length).slice(0, length)
    const bytes = new MomentaryBytes()
    bytes.of('z'.repeat(16_384))
    assert.deepEqual(bytes.of(text), Buffer.from(text, 'latin1'))
  })
}

test('texts of two places do not meet', () => {
  const [here, there] = [new MomentaryBytes().of('here'), new MomentaryBytes().of('there')]
  assert.deepEqual([here, there].map(String), ['here', 'there'])
})

for (const [length, isThere] of [
  [1, true],
  [16_384, true],
  [16_385, false],
] as const) {
  test(`a text of ${length} letters is${isThere ? '' : ' not'} at the one place`, () => {
    const bytes = new MomentaryBytes()
    const { buffer } = bytes.of('')
    assert.equal(bytes.of('a'.repeat(length)).buffer === buffer, isThere)
  })
}
