import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackOff, LEAST_WAIT } from '../../lib/outside/back-off.ts'

/** The rules, and the longest of each wait in milliseconds. */
const LONGEST: readonly [retry: number, retryMax: number, waits: readonly number[]][] = [
  [1, 30, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
  [0.5, 1, [500, 1000, 1000]],
  [5, 1, [5000, 5000, 5000]],
  [0, 0, [LEAST_WAIT, LEAST_WAIT]],
]

for (const [retry, retryMax, waits] of LONGEST) {
  test(`with retry ${retry} and retryMax ${retryMax} the waits are at most ${waits.join(', ')}`, () => {
    const backOff = new BackOff({ retry, retryMax })
    for (const longest of waits) {
      const wait = backOff.next()
      const least = Math.max(retry * 1000, longest / 2)
      assert.equal(wait >= least && wait <= longest, true, `${wait} of ${longest}`)
    }
    backOff.reset()
    assert.equal(backOff.next(), waits[0])
  })
}

test('thousands of failures lead to the longest wait, which stays finite', () => {
  const backOff = new BackOff({ retry: 1, retryMax: 30 })
  for (let failure = 0; failure < 5000; failure++) backOff.next()
  const wait = backOff.next()
  assert.equal(wait >= 15_000 && wait <= 30_000, true, `${wait}`)
})
