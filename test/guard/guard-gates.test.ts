import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { type AuthContext, authContextOf, setAuthContext } from '../../lib/guard/context.ts'
import { ProbedRequest, probeEndOf } from '../../lib/guard/probe-gate.ts'
import {
  authorizationOf,
  currentAuthorization,
  errors,
  refusalOf,
  signalOf,
} from '../../lib/index.ts'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

const userOf = (request: FastifyRequest) => authorizationOf(request)?.userInfo.sub ?? 'nobody'
const refuse = (context: AuthContext) =>
  Object.assign(context, { authorization: null, error: new errors.ERR_AUTH_TENANT_FORBIDDEN() })

/** Decisions that stand where the last gate meets a user's request, and its outcome. */
const AT_THE_GATE: readonly [
  what: string,
  make: (context: AuthContext) => AuthContext | undefined,
  outcome: string,
][] = [
  ['no decision', () => undefined, '200 test-user'],
  ['a refusal', refuse, '200 test-user'],
]

for (const [what, make, expected] of AT_THE_GATE) {
  test(`where the last gate meets ${what}, a user gets ${expected}`, async (t) => {
    const app = await guardedApp(t)
    app.addHook('preValidation', async (request) => {
      const context = authContextOf(request)
      if (context) setAuthContext(request, make(context))
    })
    const seen: string[] = []
    app.get('/x', async (request) => void seen.push(userOf(request)))
    const { statusCode } = await app.inject({ url: '/x', headers: await as() })
    assert.equal(`${statusCode} ${seen.join() || 'nobody'}`, expected)
  })
}

test('a preflight that no plugin can answer is refused before later hooks', async (t) => {
  const app = await guardedApp(t)
  let later = 0
  app.addHook('onRequest', async () => void later++)
  app.options('/x', async () => 'never')
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/x',
    headers: { origin: 'https://app.test', 'access-control-request-method': 'POST' },
  })
  assertRefused(preflight, 'ERR_AUTH_TOKEN_MISSING')
  assert.equal(later, 0)
})

test('a request is asked about once, also where two routes share its place', async (t) => {
  let asked = 0
  const isRevoked = () => {
    asked++
    return false
  }
  const app = await guardedApp(t, { isRevoked })
  app.get('/x', async (request) => userOf(request))
  app.get('/x', { constraints: { version: '2.0.0' } }, async (request) => userOf(request))
  for (const version of [{}, { 'accept-version': '2.x' }]) {
    asked = 0
    const response = await app.inject({ url: '/x', headers: { ...(await as()), ...version } })
    assert.deepEqual([response.body, asked], ['test-user', 1])
  }
})

test('a request that a handler injects is decided for its own user, and asked about for nobody', async (t) => {
  const askedFor: unknown[] = []
  const resolveTenant = () => {
    askedFor.push(currentAuthorization())
    return 'lazy-raccoon'
  }
  const app = await guardedApp(t, { asyncContext: true, resolveTenant })
  const current = () => currentAuthorization()?.userInfo.sub
  app.get('/x', { config: { tenant: true } }, async () => current())
  const alice = await as(undefined, { sub: 'alice' })
  app.get('/around', async () => {
    const inner = await app.inject({ url: '/x', headers: alice })
    return [inner.body, current()]
  })
  const response = await app.inject({ url: '/around', headers: await as() })
  assert.deepEqual(response.json(), ['alice', 'test-user'])
  assert.deepEqual(askedFor, [null])
})

test('a handler runs for its request, wherever the last hook of its route went on', async (t) => {
  const outside = new AsyncResource('outside')
  const app = await guardedApp(t, { asyncContext: true })
  const preHandler = (_request: unknown, _reply: unknown, done: () => void) =>
    void outside.runInAsyncScope(done)
  app.get('/x', { preHandler }, async () => currentAuthorization()?.userInfo.sub)
  assert.equal((await app.inject({ url: '/x', headers: await as() })).body, 'test-user')
})

test('the context of a request is entered anew for its later hooks', async (t) => {
  const outside = new AsyncResource('outside')
  const app = await guardedApp(t, { asyncContext: true })
  const seen: unknown[] = []
  app.addHook('onRequest', (_request, _reply, done) => outside.runInAsyncScope(done))
  app.addHook('preValidation', async () => void seen.push(currentAuthorization()?.userInfo.sub))
  app.get('/x', async () => 'x')
  await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual(seen, ['test-user'])
})

test('a refusal stays one where the not-found handler answers, and an open request goes on', async (t) => {
  const app = await guardedApp(t)
  app.setErrorHandler((_error, _request, reply) => reply.callNotFound())
  app.setNotFoundHandler(async (request) => ({
    code: refusalOf(request)?.error.code ?? null,
    isOver: signalOf(request).aborted,
  }))
  app.get('/x', async () => 'never')
  app.get('/open', { config: { noauth: true } }, async (request) => ({
    isOver: signalOf(request).aborted,
  }))
  const refused = { code: 'ERR_AUTH_TOKEN_MISSING', isOver: true }
  assert.deepEqual((await app.inject('/x')).json(), refused)
  assert.deepEqual((await app.inject('/none')).json(), { code: null, isOver: false })
  assert.deepEqual((await app.inject('/open')).json(), { isOver: false })
})

test('each decision is counted', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', async () => 'x')
  app.get('/open', { config: { noauth: true } }, async () => 'x')
  for (const url of ['/x', '/open', '/none']) {
    for (const headers of [{}, await as()]) await app.inject({ url, headers })
  }
  const refused = { ERR_AUTH_TOKEN_MISSING: 1 }
  assert.deepEqual(app.authService.stats().decisions, { admitted: 1, refused })
})

test('a probe ends with the refusal of the guard', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', async () => assert.fail('a handler ran'))
  const refused = await app.inject({ url: '/x', Request: ProbedRequest })
  assert.equal(probeEndOf(refused.raw.req)?.error?.code, 'ERR_AUTH_TOKEN_MISSING')
  const headers = await as()
  const admitted = await app.inject({ url: '/x', headers, Request: ProbedRequest })
  assert.deepEqual([outcome(admitted), probeEndOf(admitted.raw.req)?.error], ['204', null])
})
