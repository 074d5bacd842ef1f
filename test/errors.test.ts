import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errors } from '../lib/index.ts'
import { REFUSALS, type Refusal, type RefusalCode } from './helpers/app/refusals.ts'

const REASON = 'a reason for the log'

/** One error of each class that a request can meet. */
const ERRORS: Record<RefusalCode, errors.AuthError> = {
  ERR_AUTH_TOKEN_MISSING: new errors.ERR_AUTH_TOKEN_MISSING(REASON),
  ERR_AUTH_TOKEN_INVALID: new errors.ERR_AUTH_TOKEN_INVALID(REASON),
  ERR_AUTH_STEP_UP_REQUIRED: new errors.ERR_AUTH_STEP_UP_REQUIRED(
    { acr: ['phr'], maxAge: 300 },
    REASON,
  ),
  ERR_AUTH_TENANT_FORBIDDEN: new errors.ERR_AUTH_TENANT_FORBIDDEN(REASON),
  ERR_AUTH_RESOURCE_MISSING: new errors.ERR_AUTH_RESOURCE_MISSING([], REASON),
  ERR_AUTH_TENANT_MISSING: new errors.ERR_AUTH_TENANT_MISSING(REASON),
  ERR_AUTH_TENANT_INVALID: new errors.ERR_AUTH_TENANT_INVALID(REASON),
  ERR_AUTH_TENANT_UNKNOWN: new errors.ERR_AUTH_TENANT_UNKNOWN(REASON),
  ERR_AUTH_TENANT_SUSPENDED: new errors.ERR_AUTH_TENANT_SUSPENDED(REASON),
  ERR_AUTH_NOT_PERMITTED: new errors.ERR_AUTH_NOT_PERMITTED(REASON),
  ERR_AUTH_KEYS_UNAVAILABLE: new errors.ERR_AUTH_KEYS_UNAVAILABLE(1, REASON),
  ERR_AUTH_TENANTS_UNAVAILABLE: new errors.ERR_AUTH_TENANTS_UNAVAILABLE(1, REASON),
  ERR_AUTH_REVOCATION_UNAVAILABLE: new errors.ERR_AUTH_REVOCATION_UNAVAILABLE(1, REASON),
  ERR_AUTH_ISSUERS_UNAVAILABLE: new errors.ERR_AUTH_ISSUERS_UNAVAILABLE(1, REASON),
  ERR_AUTH_INTROSPECTION_UNAVAILABLE: new errors.ERR_AUTH_INTROSPECTION_UNAVAILABLE(1, REASON),
  ERR_AUTH_RESOURCES_UNAVAILABLE: new errors.ERR_AUTH_RESOURCES_UNAVAILABLE(1, REASON),
  ERR_AUTH_PROOFS_UNAVAILABLE: new errors.ERR_AUTH_PROOFS_UNAVAILABLE(1, REASON),
  ERR_AUTH_CHECK_UNAVAILABLE: new errors.ERR_AUTH_CHECK_UNAVAILABLE(1, REASON),
}

for (const [code, error] of Object.entries(ERRORS)) {
  test(`${code} has its status and a constant message`, () => {
    const refusal = refusalNamed(code)
    assert.equal(error.code, code)
    assert.equal(error.constructor.name, code)
    assert.equal(error.statusCode, refusal.status)
    assert.equal(error.message, refusal.message)
    assert.equal(error.retryAfter, refusal.retry === true ? 1 : null)
    const bare = Reflect.construct(error.constructor, [])
    assert.equal(bare.retryAfter, error.retryAfter, 'of code in JavaScript')
    assert.equal(error.challenge === null, refusal.challenge === null)
    assert.equal(error instanceof errors.AuthError && error instanceof Error, true)
  })

  test(`${code} has what http-errors has, but not as own fields`, () => {
    assert.deepEqual([error.status, error.expose], [error.statusCode, error.statusCode < 500])
    for (const name of ['status', 'expose', 'reason', 'challenge', 'retryAfter', 'headers']) {
      assert.equal(Object.hasOwn(error, name), false, name)
    }
    assert.deepEqual({ ...error }, { code, statusCode: error.statusCode })
    assert.equal(String(error), `AuthError: ${error.message}`)
  })

  test(`${code} that an application makes has a stack`, () => {
    assert.match(error.stack ?? '', /^AuthError: [^\n]+\n {4}at .*errors\.test\.ts/)
  })

  test(`${code} can be read of an object that has it as its prototype, without its reason`, () => {
    for (const copy of [Object.create(error), new Proxy(error, {})]) {
      assert.deepEqual([copy.reason, copy.mismatch], ['', undefined])
      assert.equal(copy.challenge?.error, error.challenge?.error)
      assert.deepEqual([copy.challenge?.scope, copy.challenge?.stepUp], [undefined, undefined])
      assert.equal(copy.retryAfter, error.retryAfter)
    }
  })

  test(`${code} takes what http-errors and error handlers write`, () => {
    const given = { status: 418, expose: !error.expose, name: 'Own', reason: 'r', retryAfter: 3 }
    const all = { ...given, challenge: {}, ...('mismatch' in error && { mismatch: {} }) }
    const written: object = Object.assign(Object.create(error), all)
    for (const [name, value] of Object.entries(all)) {
      assert.equal(Reflect.get(written, name), value, name)
      assert.equal(Reflect.get(error, name) === value, false, name)
    }
    assert.deepEqual({ ...written }, {}, 'no serializer sees more than before')
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
}

test('boot errors have their code, and say in the message what is wrong', () => {
  for (const name of ['ERR_AUTH_CONFIG_INVALID', 'ERR_AUTH_ROUTE_INVALID'] as const) {
    const error = new errors[name]('what is wrong')
    const seen = [error.code, error.statusCode, error.message, error.reason, error.expose]
    assert.deepEqual(seen, [name, 500, 'what is wrong', 'what is wrong', false])
    assert.deepEqual([error.challenge, error.retryAfter], [null, null])
    assert.match(error.stack ?? '', /errors\.test\.ts/)
  }
})

test('one class for each code is exported, and nothing else', () => {
  const boot = ['ERR_AUTH_CONFIG_INVALID', 'ERR_AUTH_ROUTE_INVALID']
  const seen = Object.keys(errors).sort()
  assert.deepEqual(seen, ['AuthError', ...Object.keys(ERRORS), ...boot].sort())
})

test('without a reason, the message is the reason', () => {
  assert.equal(new errors.ERR_AUTH_TENANT_MISSING().reason, 'A tenant is required')
})

function refusalNamed(code: string): Refusal {
  const found = Object.entries(REFUSALS).find(([known]) => known === code)
  if (found === undefined) throw new Error(`no refusal is called ${code}`)
  return found[1]
}
