import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'

const closed = () => new Error('closed')
const never = () => new Promise<string>(() => {})

test('a wait gives the result that it waits for, or its failure', async () => {
  const waits = new PendingRequests()
  assert.equal(await waits.waitFor(Promise.resolve('here'), closed), 'here')
  await assert.rejects(waits.waitFor(Promise.reject(new Error('down')), closed), {
    message: 'down',
  })
})

test('the end fails every wait with its own error, and later waits too', async () => {
  const waits = new PendingRequests()
  const all = [waits.waitFor(never(), closed), waits.waitFor(never(), () => new Error('shut'))]
  waits.end()
  const late = waits.waitFor(Promise.resolve('here'), closed)
  const outcomes = await Promise.allSettled([...all, late])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message),
    ['closed', 'shut', 'closed'],
  )
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

test('a wait that is over is not ended', async () => {
  const waits = new PendingRequests()
  const refuse = () => assert.fail('asked for an error that nobody waits for')
  await waits.waitFor(Promise.resolve('here'), refuse)
  await assert.rejects(waits.waitFor(Promise.reject(new Error('down')), refuse), {
    message: 'down',
  })
  await new Promise(setImmediate)
  waits.end()
})

test('a wait is ended once', async (t) => {
  const waits = new PendingRequests()
  const refuse = t.mock.fn(closed)
  const ended = assert.rejects(waits.waitFor(never(), refuse), { message: 'closed' })
  waits.end()
  await ended
  waits.end()
  assert.equal(refuse.mock.callCount(), 1)
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
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})

test('after resume, waits last again', async () => {
  const waits = new PendingRequests()
  waits.end()
  waits.resume()
  assert.equal(await waits.waitFor(Promise.resolve('here'), closed), 'here')
})

test('a value that is there is not waited for, even after the end', () => {
  const waits = new PendingRequests()
  const value: string | Promise<string> = 'here'
  assert.equal(waits.waitFor(value, closed), 'here')
  waits.end()
  assert.equal(waits.waitFor(value, closed), 'here')
})

/** Waits of one second, of which the process does not wait for the end. */
const LIMIT = {
  milliseconds: 1000,
  late: () => new Error('late'),
  ended: closed,
  keepsAlive: false,
}

test('a wait within a time gives the result that it waits for, or its failure', async () => {
  const waits = new PendingRequests()
  assert.equal(await waits.waitWithin(Promise.resolve('here'), LIMIT), 'here')
  await assert.rejects(waits.waitWithin(Promise.reject(new Error('down')), LIMIT), {
    message: 'down',
  })
})

test('an answer that does not come in time is late', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const isOver = t.mock.fn()
  const waiting = new PendingRequests().waitWithin(never(), LIMIT)
  const outcome = assert.rejects(waiting, { message: 'late' }).then(isOver)
  t.mock.timers.tick(999)
  await new Promise(setImmediate)
  assert.equal(isOver.mock.callCount(), 0)
  t.mock.timers.tick(1)
  await outcome
})

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
