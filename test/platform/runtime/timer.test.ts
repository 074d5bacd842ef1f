import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import { Alarm, BackOff, LEAST_WAIT } from '../../../lib/platform/runtime/timer.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'

/** An alarm on a clock that the test moves, and a count of its rings. */
function alarmOf(t: TestContext) {
  holdTime(t, { apis: ['setTimeout', 'Date'] })
  const ring = t.mock.fn()
  return { alarm: new Alarm(ring), rings: () => ring.mock.callCount() }
}

test('it rings once, at its time', (t) => {
  const { alarm, rings } = alarmOf(t)
  assert.equal(alarm.set(1000), 1000)
  t.mock.timers.tick(999)
  assert.equal(rings(), 0)
  t.mock.timers.tick(1)
  assert.equal(rings(), 1)
  t.mock.timers.tick(100_000)
  assert.equal(rings(), 1)
})

test('set anew it forgets the earlier time, and stopped it does not ring', (t) => {
  const { alarm, rings } = alarmOf(t)
  alarm.set(1000)
  alarm.set(2000)
  t.mock.timers.tick(1999)
  assert.equal(rings(), 0)
  t.mock.timers.tick(1)
  assert.equal(rings(), 1)
  alarm.set(3000)
  alarm.stop()
  t.mock.timers.tick(5000)
  assert.equal(rings(), 1)
})

test('for a time that is over it does not ring at once', (t) => {
  const { alarm, rings } = alarmOf(t)
  assert.equal(alarm.set(Number.NEGATIVE_INFINITY), LEAST_WAIT)
  assert.equal(rings(), 0)
  t.mock.timers.tick(LEAST_WAIT)
  assert.equal(rings(), 1)
})

test('a time that no timer can reach is approached in steps', (t) => {
  const { alarm } = alarmOf(t)
  assert.equal(alarm.set(1e15), 2 ** 31 - 1)
})

test('it does not ring in the async context of the code that set it', async () => {
  const storage = new AsyncLocalStorage<string>()
  const rung = new Promise((resolve) => {
    const alarm = new Alarm(() => resolve(storage.getStore()))
    storage.run('a request', () => alarm.set(0))
  })
  // Alone, an alarm keeps no process alive.
  const alive = setInterval(() => {}, 1000)
  assert.equal(await rung, undefined)
  clearInterval(alive)
})

test('it keeps no process alive', () => {
  const alarm = new Alarm(() => {})
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  alarm.set(Number.POSITIVE_INFINITY)
  assert.equal(timers(), before)
  alarm.stop()
})

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
