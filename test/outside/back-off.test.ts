import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BackOff } from '../../lib/outside/alarm.ts'

/** The rules, and the longest of each wait in milliseconds. */
const LONGEST: readonly [retry: number, retryMax: number, waits: readonly number[]][] = [
  [1, 30, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]],
  [0.5, 1, [500, 1000, 1000]],
  [5, 1, [5000, 5000, 5000]],
  [0.03, 1, [30, 60, 120, 240]],
]

for (const [retry, retryMax, waits] of LONGEST) {
  test(`with retry ${retry} and retryMax ${retryMax} the waits are at most ${waits.join(', ')}`, (t) => {
    for (const chance of [0, 0.5, 1]) {
      t.mock.method(Math, 'random', () => chance)
      const backOff = new BackOff({ retry, retryMax })
      for (const longest of waits) {
        const least = Math.max(retry * 1000, longest / 2)
        assert.equal(backOff.next(), least + (longest - least) * chance)
      }
      backOff.reset()
      assert.equal(backOff.next(), waits[0])
    }
  })
}

test('without a wait there is one of 20 milliseconds', () => {
  const backOff = new BackOff({ retry: 0, retryMax: 0 })
  assert.deepEqual([backOff.next(), backOff.next()], [20, 20])
})

test('thousands of failures lead to the longest wait, which stays finite', () => {
  for (const [retry, retryMax] of [
    [1, 30],
    [0, 30],
  ] as const) {
    const backOff = new BackOff({ retry, retryMax })
    for (let failure = 0; failure < 5000; failure++) backOff.next()
    const wait = backOff.next()
    const least = retry === 0 ? 20 : 15_000
    assert.equal(wait >= least && wait <= 30_000, true, `${wait}`)
  }
})

test('a wait doubles forty times at most', (t) => {
  t.mock.method(Math, 'random', () => 1)
  const backOff = new BackOff({ retry: 2 ** -40, retryMax: 1000 })
  for (let failure = 0; failure < 50; failure++) backOff.next()
  assert.equal(backOff.next(), 1000)
})
