import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'

const closed = () => new Error('closed')
const never = () => new Promise<string>(() => {})

test('the end fails every wait with its own error, and later waits too', async () => {
  const waits = new PendingRequests()
  const all = [waits.waitFor(never(), closed), waits.waitFor(never(), () => new Error('shut'))]
  waits.end()
  const late = waits.waitFor(Promise.resolve('here'), closed)
  const outcomes = await Promise.allSettled([...all, late])
  const found = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message)
  assert.deepEqual(found, ['closed', 'shut', 'closed'])
})

test('a promise may fail after the end of its wait, without any effect', async () => {
  const waits = new PendingRequests()
  let fail = (_error: Error): void => {}
  const pending = new Promise<string>((_, reject) => {
    fail = reject
  })
  const ended = assert.rejects(waits.waitFor(pending, closed), { message: 'closed' })
  waits.end()
  await ended
  fail(new Error('too late'))
  await new Promise(setImmediate)
})

test('a wait that was ended takes nothing away from those after it', async () => {
  const waits = new PendingRequests()
  let come = (_value: string): void => {}
  const pending = new Promise<string>((resolve) => {
    come = resolve
  })
  const ended = assert.rejects(waits.waitFor(pending, closed), { message: 'closed' })
  waits.end()
  await ended
  waits.resume()
  const later = [waits.waitFor(never(), closed), waits.waitFor(never(), closed)]
  come('too late')
  await new Promise(setImmediate)
  waits.end()
  const outcomes = await Promise.allSettled(later)
  const found = outcomes.map(({ status }) => status)
  assert.deepEqual(found, ['rejected', 'rejected'])
})

/** Waits of one second, of which the process does not wait for the end. */
const LIMIT = {
  milliseconds: 1000,
  late: () => new Error('late'),
  ended: closed,
  keepsAlive: false,
}

test('the timer of a wait ends with it, and keeps the process alive only if that is said', async (t) => {
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  for (const keepsAlive of [false, true]) {
    const waits = new PendingRequests()
    const limit = { ...LIMIT, keepsAlive, milliseconds: 1_000_000 }
    const ended = assert.rejects(waits.waitWithin(never(), limit), { message: 'closed' })
    assert.equal(timers() - before, keepsAlive ? 1 : 0)
    waits.end()
    await ended
  }
  assert.deepEqual([cleared.mock.callCount(), timers()], [2, before])
})
