import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  after,
  attempt,
  ignoreRejection,
  isThenable,
} from '../../../lib/platform/runtime/maybe-promise.ts'

const fail = (message: string) => () => {
  throw new Error(message)
}

test('a step after a value runs at once, and may itself come later', async () => {
  assert.equal(
    after(1, (value) => value + 1),
    2,
  )
  assert.equal(await after(1, async (value) => value + 1), 2)
  assert.throws(() => after(1, fail('step')), { message: 'step' })
})

test('a step after a promise runs when the promise is kept', async () => {
  const later = after(Promise.resolve(1), (value) => value + 1)
  assert.equal(later instanceof Promise, true)
  assert.equal(await later, 2)
  await assert.rejects(async () => after(Promise.resolve(1), fail('step')), { message: 'step' })
  const down = Promise.reject(new Error('down'))
  await assert.rejects(async () => after(down, () => 'never'), { message: 'down' })
})

test('an attempt goes on in one of two ways, at once if it can', () => {
  const outcomeOf = (run: () => string) =>
    attempt(
      run,
      (value) => `done: ${value}`,
      (error) => `failed: ${error}`,
    )
  assert.equal(
    outcomeOf(() => 'here'),
    'done: here',
  )
  assert.equal(outcomeOf(fail('down')), 'failed: Error: down')
})

test('an attempt that comes later goes on in one of two ways later', async () => {
  const outcomeOf = (pending: Promise<string>) =>
    attempt(
      () => pending,
      (value) => `done: ${value}`,
      (error) => `failed: ${error}`,
    )
  assert.equal(await outcomeOf(Promise.resolve('here')), 'done: here')
  assert.equal(await outcomeOf(Promise.reject(new Error('down'))), 'failed: Error: down')
})

test('a failure after an attempt is not a failure of the attempt', async () => {
  let failures = 0
  const failed = () => {
    failures += 1
  }
  assert.throws(() => attempt(() => 1, fail('next'), failed), { message: 'next' })
  await assert.rejects(async () => attempt(async () => 1, fail('next'), failed), {
    message: 'next',
  })
  assert.equal(failures, 0)
})

/** A promise of another library. */
const THENABLE = Object.defineProperty({}, 'then', { value: () => {} })

test('a promise of any library is recognized', () => {
  assert.equal(isThenable(Promise.resolve()), true)
  assert.equal(isThenable(THENABLE), true)
})

for (const value of [undefined, null, 0, '', 'then', {}, [], () => {}, JSON.parse('{"then":1}')]) {
  test(`${typeof value} ${JSON.stringify(value)} is not a promise, and may be ignored`, () => {
    assert.equal(isThenable(value), false)
    ignoreRejection(value)
  })
}

test('an ignored rejection does not reach the process', async (t) => {
  const unhandled = t.mock.fn()
  process.on('unhandledRejection', unhandled)
  t.after(() => process.off('unhandledRejection', unhandled))
  ignoreRejection(Promise.reject(new Error('on purpose')))
  ignoreRejection(Promise.resolve())
  for (let round = 0; round < 3; round++) await new Promise(setImmediate)
  assert.equal(unhandled.mock.callCount(), 0)
})
