import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badStatus, FetchFailure, noAnswer } from '../../../lib/platform/http/failure.ts'

const { signal } = new AbortController()
const refused = Object.assign(new Error('secret'), { code: 'ECONNREFUSED' })

test('an answer without a document fails with its status', () => {
  const { message, status } = badStatus(404)
  assert.deepEqual([message, status], ['answered with status 404', 404])
})

test('without an answer there is no status, and the message is the code of the error', () => {
  const { message, status } = noAnswer(refused, signal)
  assert.deepEqual([message, status], ['no answer (ECONNREFUSED)', undefined])
})

test('if the time was over, the error is that of its end', () => {
  assert.equal(noAnswer(refused, AbortSignal.abort()).message, 'no answer in time')
})

test('a failure of our own stays as it is', () => {
  const failure = new FetchFailure('the address is not public')
  assert.equal(noAnswer(failure, AbortSignal.abort()), failure)
})
