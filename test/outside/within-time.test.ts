import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { withinTime } from '../../lib/outside/ask-application.ts'
import { Unusable } from '../../lib/outside/unusable.ts'

const never = () => new Promise(() => {})

test('an answer is given, at once or later', async () => {
  assert.equal(await withinTime(() => 'here', 1000), 'here')
  assert.equal(await withinTime(async () => 'later', 1000), 'later')
})

test('what the function throws is thrown, at once or later', async () => {
  const down = new Error('down')
  const fail = () => {
    throw down
  }
  await assert.rejects(withinTime(fail, 1000), down)
  await assert.rejects(
    withinTime(async () => fail(), 1000),
    down,
  )
})

test('an answer that does not come in time is late', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const isOver = t.mock.fn()
  const outcome = assert.rejects(withinTime(never, 1000), new Unusable('late'))
  void outcome.then(isOver)
  t.mock.timers.tick(999)
  await new Promise(setImmediate)
  assert.equal(isOver.mock.callCount(), 0)
  t.mock.timers.tick(1)
  await outcome
})

test('a signal ends the wait', async () => {
  const end = new AbortController()
  const outcome = assert.rejects(withinTime(never, 1000, end.signal), new Unusable('ended'))
  assert.equal(getEventListeners(end.signal, 'abort').length, 1)
  end.abort()
  await outcome
})

test('its timer ends with the answer, and keeps no process alive', async (t) => {
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  const answer = withinTime(async () => 'later', 1_000_000)
  assert.equal(timers(), before)
  await answer
  assert.equal(cleared.mock.callCount(), 1)
})
