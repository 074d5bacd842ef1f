import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { errorCode, withoutStack } from '../../../lib/platform/runtime/error.ts'

const withCode = (code: unknown) => Object.assign(new Error('secret'), { code })
const withName = (name: string) => Object.assign(new Error('secret'), { name })

/** OpenSSL 3.5 has a slash where earlier ones had a version: SSLV3_ALERT_…. */
const ALERT = 'SSL/TLS_ALERT_UNSUPPORTED_CERTIFICATE'

const codes: [what: string, error: unknown, code: string][] = [
  ['a system error', withCode('ECONNREFUSED'), 'ECONNREFUSED'],
  ['an error without a code', new TypeError('secret'), 'TypeError'],
  ['a code that is a sentence', withCode('secret of the user'), 'Error'],
  ['a code with a line break', withCode('E\nsecret'), 'Error'],
  ['a code that is as long as it may be', withCode('E'.repeat(64)), 'E'.repeat(64)],
  ['a code of OpenSSL', withCode(`ERR_SSL_${ALERT}`), `ERR_SSL_${ALERT}`],
  ['a code with digits', withCode('ERR_HTTP2_X'), 'ERR_HTTP2_X'],
  ['a code of one letter', withCode('E'), 'E'],
  ['a code of PostgreSQL', withCode('42501'), '42501'],
  ['a code of PostgreSQL with letters', withCode('3F000'), '3F000'],
  ['a number with a digit more', withCode('425010'), 'Error'],
  ['a code in small letters', withCode('econnrefused'), 'Error'],
  ['a code behind other text', withCode('secret ECONNREFUSED'), 'Error'],
  ['a code before other text', withCode('ECONNREFUSED secret'), 'Error'],
  ['a code that is too long', withCode('E'.repeat(65)), 'Error'],
  ['a code that is no string', withCode({ toString: () => 'secret' }), 'Error'],
  ['a code that only reads as one', withCode(['ECONNREFUSED']), 'Error'],
  ['an empty code', withCode(''), 'Error'],
  ['a name that is a sentence', withName('a secret of the user'), 'Error'],
  ['a name behind other text', withName('secret TypeError'), 'Error'],
  ['a name before other text', withName('TypeError secret'), 'Error'],
  ['a name as long as it may be', withName(`${'E'.repeat(31)}Error`), `${'E'.repeat(31)}Error`],
  ['a name that is too long', withName(`${'E'.repeat(32)}Error`), 'Error'],
  ['an error of the platform', new DOMException('secret', 'AbortError'), 'AbortError'],
  ['an error of another realm', runInNewContext('new TypeError("secret")'), 'TypeError'],
  ['a string', 'secret', 'no error object'],
  ['null', null, 'no error object'],
  ['something like an error', { code: 'ECONNREFUSED', message: 'secret' }, 'no error object'],
]

for (const [what, error, code] of codes) {
  test(`${what} is logged as ${code} alone`, () => {
    assert.equal(errorCode(error), code)
  })
}

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
