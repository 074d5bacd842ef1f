import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutStack } from '../../lib/outside/without-stack.ts'

test('an error has no stack, and says what it is', () => {
  const error = withoutStack(() => new TypeError('what is wrong'))
  assert.equal(error.stack, 'TypeError: what is wrong')
})

test('the limit is as before, whatever it was', () => {
  const before = Error.stackTraceLimit
  try {
    for (const limit of [0, 3, 10, Number.POSITIVE_INFINITY]) {
      Error.stackTraceLimit = limit
      assert.equal(
        withoutStack(() => Error.stackTraceLimit),
        0,
      )
      assert.equal(Error.stackTraceLimit, limit)
    }
  } finally {
    Error.stackTraceLimit = before
  }
})

test('the limit is as before where the function throws, and where it calls itself', () => {
  const before = Error.stackTraceLimit
  assert.throws(
    () =>
      withoutStack(() => {
        withoutStack(() => null)
        assert.equal(Error.stackTraceLimit, 0)
        throw new RangeError('thrown')
      }),
    (error) => error instanceof RangeError && error.stack === 'RangeError: thrown',
  )
  assert.equal(Error.stackTraceLimit, before)
})

test('where the limit cannot be set an error has its stack, and nothing fails', () => {
  const before = Error.stackTraceLimit
  Object.defineProperty(Error, 'stackTraceLimit', { writable: false })
  try {
    const error = withoutStack(() => new Error('what is wrong'))
    assert.match(error.stack ?? '', /^Error: what is wrong\n {4}at /)
  } finally {
    Object.defineProperty(Error, 'stackTraceLimit', { writable: true, value: before })
  }
})
