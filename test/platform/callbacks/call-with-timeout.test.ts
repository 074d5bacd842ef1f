import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../../lib/errors.ts'
import { callWithTimeout } from '../../../lib/platform/callbacks/call-with-timeout.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'

const asking = (ask: () => unknown, timeout = 5, waits = new PendingRequests()) =>
  callWithTimeout({
    ask,
    timeout,
    waits,
    read: (value) => (typeof value === 'boolean' ? value : undefined),
    refuse: (reason) => new ERR_AUTH_TENANTS_UNAVAILABLE(1, reason),
  })

const refused = (reason: string) => (error: unknown) =>
  error instanceof ERR_AUTH_TENANTS_UNAVAILABLE && error.reason === reason

const failing = (error: unknown) => () => {
  throw error
}

/** Thrown values, and all that their refusals say. */
const THROWN: readonly [thrown: unknown, reason: string][] = [
  [new Error('secret'), 'failed (Error)'],
  [new TypeError('secret'), 'failed (TypeError)'],
  [Object.assign(new Error('secret'), { code: 'ECONNREFUSED' }), 'failed (ECONNREFUSED)'],
  [Object.assign(new Error('secret'), { code: 'a secret sentence' }), 'failed (Error)'],
  [Object.assign(new Error('secret'), { name: 'a secret name' }), 'failed (Error)'],
  ['secret', 'failed (no error object)'],
  [undefined, 'failed (no error object)'],
  [null, 'failed (no error object)'],
]

for (const [thrown, reason] of THROWN) {
  test(`${String(thrown)}, thrown or rejected, is refused with no more than: ${reason}`, async () => {
    assert.throws(() => asking(failing(thrown)), refused(reason))
    await assert.rejects(async () => asking(() => Promise.reject(thrown)), refused(reason))
  })
}

test('a wrong answer is refused, at once or later', async () => {
  for (const answer of [undefined, null, 1, 'true', {}, [true], Object(true), () => true]) {
    assert.throws(() => asking(() => answer), refused('gave no usable answer'))
    await assert.rejects(async () => asking(async () => answer), refused('gave no usable answer'))
  }
})

test('a promise whose then cannot be read is a failure', async () => {
  const broken = Object.defineProperty({}, 'then', { get: failing(new RangeError('secret')) })
  assert.throws(() => asking(() => broken), refused('failed (RangeError)'))
})

test('an answer that does not come in time is late, and has no effect when it comes', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { promise, reject } = settleable()
  const isOver = t.mock.fn()
  const outcome = assert.rejects(async () => asking(() => promise, 2), refused('is late'))
  void outcome.then(isOver)
  t.mock.timers.tick(1999)
  await new Promise(setImmediate)
  assert.equal(isOver.mock.callCount(), 0)
  t.mock.timers.tick(1)
  await outcome
  reject(new Error('too late'))
})

test('an answer in time ends the timer', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  await asking(async () => true)
  assert.equal(cleared.mock.callCount(), 1)
})

test('an application that closes ends the question, and a later answer has no effect', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const cleared = t.mock.method(globalThis, 'clearTimeout')
  const { promise, reject } = settleable()
  const waits = new PendingRequests()
  const answer = Promise.resolve(asking(() => promise, 60, waits))
  const outcome = assert.rejects(answer, refused('had not answered when the application closed'))
  waits.end()
  await outcome
  assert.equal(cleared.mock.callCount(), 1)
  reject(new Error('too late'))
})

function settleable() {
  let reject = (_error: Error): void => {}
  const promise = new Promise<boolean>((_resolve, rejects) => {
    reject = rejects
  })
  return { promise, reject: (error: Error) => reject(error) }
}
