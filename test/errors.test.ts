import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors } from '../lib/index.ts'
import { authority, guardedApp } from './helpers/guarded-app.ts'
import { assertRefused, REFUSALS, type RefusalCode } from './helpers/refusals.ts'

const REASON = 'a reason for the log'

/** One error of each class that a request can meet. */
const ERRORS: Record<RefusalCode, errors.AuthError> = {
  ERR_AUTH_TOKEN_MISSING: new errors.ERR_AUTH_TOKEN_MISSING('api', REASON),
  ERR_AUTH_TOKEN_INVALID: new errors.ERR_AUTH_TOKEN_INVALID('api', REASON),
  ERR_AUTH_TENANT_FORBIDDEN: new errors.ERR_AUTH_TENANT_FORBIDDEN('api', REASON),
  ERR_AUTH_RESOURCE_MISSING: new errors.ERR_AUTH_RESOURCE_MISSING('api', [], REASON),
  ERR_AUTH_TENANT_MISSING: new errors.ERR_AUTH_TENANT_MISSING(REASON),
  ERR_AUTH_TENANT_INVALID: new errors.ERR_AUTH_TENANT_INVALID(REASON),
  ERR_AUTH_TENANT_UNKNOWN: new errors.ERR_AUTH_TENANT_UNKNOWN(REASON),
  ERR_AUTH_KEYS_UNAVAILABLE: new errors.ERR_AUTH_KEYS_UNAVAILABLE(1, REASON),
  ERR_AUTH_TENANTS_UNAVAILABLE: new errors.ERR_AUTH_TENANTS_UNAVAILABLE(1, REASON),
  ERR_AUTH_REVOCATION_UNAVAILABLE: new errors.ERR_AUTH_REVOCATION_UNAVAILABLE(1, REASON),
}

for (const [code, error] of Object.entries(ERRORS)) {
  test(`${code} has its status, its headers and a constant message`, () => {
    const refusal = Object.entries(REFUSALS).find(([known]) => known === code)?.[1]
    assert.ok(refusal, 'the code has a row')
    assert.equal(error.code, code)
    assert.equal(error.constructor.name, code)
    assert.equal(error.statusCode, refusal.status)
    assert.equal(error.message, refusal.message)
    const challenge = { 'www-authenticate': `Bearer realm="api"${refusal.challenge}` }
    const retry = 'retry' in refusal ? { 'retry-after': '1' } : undefined
    assert.deepEqual(error.headers, refusal.challenge === null ? retry : challenge)
    assert.equal(error instanceof errors.AuthError && error instanceof Error, true)
  })

  test(`${code} keeps its reason out of every usual way to show an error`, () => {
    assert.equal(error.reason, REASON)
    const shown = [JSON.stringify(error), String(error), error.stack, error.message]
    const copies = [{ ...error }, structuredClone(error), Object.entries(error)]
    for (const text of [...shown, ...copies.map((copy) => JSON.stringify(copy))]) {
      assert.equal(text?.includes(REASON), false)
    }
    assert.equal(error.name, 'AuthError')
    assert.equal(error.cause, undefined)
  })

  test(`${code} goes to the client as its code, its status and its message`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', { config: { noauth: true } }, async () => {
      throw error
    })
    const response = await app.inject('/x')
    const refusal = Object.entries(REFUSALS).find(([known]) => known === code)?.[1]
    assert.ok(refusal, 'the code has a row')
    const { error: phrase, ...body } = response.json()
    assert.deepEqual(body, { statusCode: refusal.status, code, message: refusal.message })
    assert.equal(typeof phrase, 'string')
    for (const [name, value] of Object.entries(error.headers ?? {})) {
      assert.equal(response.headers[name], value)
    }
  })
}

test('boot errors have their code, and say in the message what is wrong', () => {
  for (const name of ['ERR_AUTH_CONFIG_INVALID', 'ERR_AUTH_ROUTE_INVALID'] as const) {
    const error = new errors[name]('what is wrong')
    assert.deepEqual(
      [error.code, error.statusCode, error.message, error.reason, error.headers],
      [name, 500, 'what is wrong', 'what is wrong', undefined],
    )
  }
})

test('one class for each code is exported, and nothing else', () => {
  const boot = ['ERR_AUTH_CONFIG_INVALID', 'ERR_AUTH_ROUTE_INVALID']
  assert.deepEqual(
    Object.keys(errors).sort(),
    ['AuthError', ...Object.keys(ERRORS), ...boot].sort(),
  )
})

test('without a reason the message serves as one', () => {
  assert.equal(new errors.ERR_AUTH_TENANT_MISSING().reason, 'A tenant is required')
})

/** Seconds until the next attempt, and what Retry-After says (RFC 9110 §10.2.3). */
for (const [seconds, header] of [
  [0, '1'],
  [-5, '1'],
  [0.2, '1'],
  [1, '1'],
  [1.2, '2'],
  [30, '30'],
] as const) {
  test(`Retry-After of ${seconds} s is ${header}`, () => {
    const { headers } = new errors.ERR_AUTH_KEYS_UNAVAILABLE(seconds)
    assert.deepEqual(headers, { 'retry-after': header })
  })
}

test('headers of an error cannot be changed', () => {
  const { headers } = new errors.ERR_AUTH_TOKEN_MISSING('api')
  assert.notEqual(headers, undefined)
  assert.equal(Object.isFrozen(headers), true)
})

test('a realm with quotes and backslashes is escaped', async (t) => {
  const app = await guardedApp(t, { realm: 'the "api" of a\\b, x="y"' })
  app.get('/x', async () => 'never')
  const quoted = 'Bearer realm="the \\"api\\" of a\\\\b, x=\\"y\\""'
  const missing = await app.inject('/x')
  assert.equal(missing.headers['www-authenticate'], quoted)
  const headers = await authority.headers({}, { expiresIn: -60 })
  const expired = await app.inject({ url: '/x', headers })
  assert.equal(expired.headers['www-authenticate'], `${quoted}, error="invalid_token"`)
})

test('the scope of a challenge names the required ids, in their order', async (t) => {
  const app = await guardedApp(t)
  app.get(
    '/x',
    { config: { require: { any: ['b:c', 'a:b', "!#'()*+,-./:;<=>?@[]^_`{|}~:~"] } } },
    async () => 'never',
  )
  const response = await app.inject({ url: '/x', headers: await authority.headers() })
  assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', "b:c a:b !#'()*+,-./:;<=>?@[]^_`{|}~:~")
})
