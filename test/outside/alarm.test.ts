import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import { Alarm, LEAST_WAIT } from '../../lib/outside/alarm.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'

/** An alarm on a clock that the test moves, and a count of its rings. */
function alarmOf(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  ageByDate(t)
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
