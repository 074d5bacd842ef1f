import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutStack } from '../../lib/outside/without-stack.ts'

test('an error has no stack, but its message', () => {
  const error = withoutStack(() => new TypeError('what is wrong'))
  assert.equal(error.stack, 'TypeError: what is wrong')
})

test('the limit is restored to any earlier value', () => {
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

test('the limit is restored if the function throws, and if it calls itself', () => {
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

test('if the limit cannot be set, an error has its stack and nothing fails', () => {
  const before = Error.stackTraceLimit
  Object.defineProperty(Error, 'stackTraceLimit', { writable: false })
  try {
    const error = withoutStack(() => new Error('what is wrong'))
    assert.match(error.stack ?? '', /^Error: what is wrong\n {4}at /)
  } finally {
    Object.defineProperty(Error, 'stackTraceLimit', { writable: true, value: before })
  }
})
