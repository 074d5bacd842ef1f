import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attempt, ignoreRejection } from '../../../lib/platform/runtime/maybe-promise.ts'

const fail = (message: string) => () => {
  throw new Error(message)
}

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

test('an ignored rejection does not reach the process', async (t) => {
  const unhandled = t.mock.fn()
  process.on('unhandledRejection', unhandled)
  t.after(() => process.off('unhandledRejection', unhandled))
  ignoreRejection(Promise.reject(new Error('on purpose')))
  ignoreRejection(Promise.resolve())
  for (let round = 0; round < 3; round++) await new Promise(setImmediate)
  assert.equal(unhandled.mock.callCount(), 0)
})
