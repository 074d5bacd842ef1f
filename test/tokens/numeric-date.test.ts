import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dateOf } from '../../lib/tokens/token-info.ts'

const DATES: readonly [seconds: number, milliseconds: number][] = [
  [0, 0],
  [1_800_000_000, 1_800_000_000_000],
  [1.5, 1500],
  [-1, -1000],
  [1e300, 8.64e15],
  [-1e300, -8.64e15],
  [Number.POSITIVE_INFINITY, 8.64e15],
]

for (const [seconds, milliseconds] of DATES) {
  test(`the date of ${seconds} s is ${milliseconds} ms after the epoch, and a new one each time`, () => {
    const date = dateOf(seconds)
    assert.equal(date.getTime(), milliseconds)
    date.setTime(1)
    assert.equal(dateOf(seconds).getTime(), milliseconds)
  })
}
