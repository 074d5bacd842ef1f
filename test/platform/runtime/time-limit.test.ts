import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { TimeLimit } from '../../../lib/platform/runtime/timer.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'

/** On a clock that the test moves. */
function begin(t: TestContext, times = { work: 5000, wait: 20_000 }) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: 0 })
  const limit = new TimeLimit(times)
  const pass = (milliseconds: number) => {
    t.mock.timers.tick(milliseconds)
    return limit.signal.aborted
  }
  return { limit, pass }
}

test('work has its time, and is late after it', (t) => {
  const { limit, pass } = begin(t)
  assert.deepEqual([pass(4999), limit.isLate], [false, false])
  assert.deepEqual([pass(1), limit.isLate], [true, true])
})

test('the time of the work stands still during a wait, and that of the waits during the work', (t) => {
  const { limit, pass } = begin(t)
  pass(3000)
  limit.spend('wait')
  pass(15_000)
  limit.spend('work')
  pass(1000)
  limit.spend('wait')
  assert.equal(pass(4999), false)
  limit.spend('work')
  assert.equal(pass(999), false)
  assert.deepEqual([pass(1), limit.isLate], [true, true])
})

test('a wait that takes too long ends the load, and nobody calls it late', (t) => {
  const { limit, pass } = begin(t)
  limit.spend('wait')
  assert.equal(pass(19_999), false)
  assert.deepEqual([pass(1), limit.isLate], [true, false])
})

test('what has ended is not aborted later, and what is aborted begins no time', (t) => {
  const { limit, pass } = begin(t)
  limit.end()
  assert.equal(pass(60_000), false)
  limit.abort()
  limit.spend('work')
  assert.deepEqual([pass(60_000), limit.isLate], [true, false])
})

test('a time that no timer can reach does not end at once', (t) => {
  const { limit, pass } = begin(t, { work: 2 ** 33, wait: 2 ** 35 })
  assert.equal(pass(1000), false)
  limit.spend('wait')
  assert.equal(pass(1000), false)
})
