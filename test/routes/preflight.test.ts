import assert from 'node:assert/strict'
import { test } from 'node:test'
import cors from '@fastify/cors'
import tenantAuth, { authorizationOf } from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/refusals.ts'

const PREFLIGHT = {
  origin: 'https://app.test',
  'access-control-request-method': 'GET',
}

test('a preflight is answered by @fastify/cors that was registered after the guard', async (t) => {
  const app = await guardedApp(t)
  await app.register(cors, { origin: true })
  app.get('/:tenant/menu', { config: { require: 'menu:read' } }, async () => 'never')
  const response = await app.inject({ method: 'OPTIONS', url: '/a/menu', headers: PREFLIGHT })
  assert.equal(response.statusCode, 204)
  assert.equal(response.headers['access-control-allow-origin'], 'https://app.test')
})

test('with @fastify/cors before the guard a browser can read the refusal', async (t) => {
  const app = bareApp(t)
  await app.register(cors, { origin: true })
  await app.register(tenantAuth, trusting())
  app.get('/x', async () => 'never')
  const response = await app.inject({ url: '/x', headers: { origin: 'https://app.test' } })
  assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
  assert.equal(response.headers['access-control-allow-origin'], 'https://app.test')
})

test('a preflight that nobody answers is refused before the OPTIONS handler of the application', async (t) => {
  const app = await guardedApp(t)
  let ran = 0
  app.addHook('preValidation', async (request) => {
    assert.equal(authorizationOf(request), null)
  })
  app.options('/x', async () => {
    ran++
    return 'never'
  })
  const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
  assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
  assert.equal(ran, 0)
})

/** What makes a request more than a preflight: it is refused at once, before anything of it is read. */
const MORE: readonly [what: string, headers: Record<string, string>, payload?: string][] = [
  ['an Authorization header', { authorization: 'Bearer x.y.z' }],
  ['an empty Authorization header', { authorization: '' }],
  ['a body', {}, 'hello'],
  ['a content type', { 'content-type': 'application/json' }],
  ['an empty content type', { 'content-type': '' }],
  ['a transfer encoding', { 'transfer-encoding': 'chunked' }],
  ['a content length', { 'content-length': '5' }],
  ['a content length that is no number', { 'content-length': '0, 5' }],
]

for (const [what, headers, payload] of MORE) {
  test(`with ${what} it is no preflight, and later hooks do not see it`, async (t) => {
    const app = await guardedApp(t)
    let seen = 0
    app.addHook('onRequest', async () => {
      seen++
    })
    app.options('/x', async () => 'never')
    const response = await app.inject({
      method: 'OPTIONS',
      url: '/x',
      headers: { ...PREFLIGHT, ...headers },
      ...(payload !== undefined && { payload }),
    })
    assert.equal(response.statusCode, 401)
    assert.equal(seen, 0)
  })
}

/** What is left out of a preflight. */
const LESS: readonly [what: string, method: 'OPTIONS' | 'GET', headers: Record<string, string>][] =
  [
    ['no Origin', 'OPTIONS', { 'access-control-request-method': 'GET' }],
    ['no Access-Control-Request-Method', 'OPTIONS', { origin: 'https://app.test' }],
    ['another method', 'GET', PREFLIGHT],
  ]

for (const [what, method, headers] of LESS) {
  test(`with ${what} it is no preflight`, async (t) => {
    const app = await guardedApp(t)
    await app.register(cors, { origin: true, strictPreflight: false })
    app.route({ method: ['OPTIONS', 'GET'], url: '/x', handler: async () => 'never' })
    const response = await app.inject({ method, url: '/x', headers })
    assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
  })
}

test('a content length of 0 does not spoil a preflight', async (t) => {
  const app = await guardedApp(t)
  await app.register(cors, { origin: true })
  const headers = { ...PREFLIGHT, 'content-length': '0' }
  app.get('/x', async () => 'never')
  const response = await app.inject({ method: 'OPTIONS', url: '/x', headers })
  assert.equal(response.statusCode, 204)
})

test('in dev mode the refusal of a preflight stands, whatever a schema adds to the query later', async (t) => {
  const app = await guardedApp(t, { devMode: true })
  const querystring = {
    type: 'object',
    properties: { tenant: { type: 'string', default: 'default' } },
  }
  const config = { tenant: 'required' } as const
  app.options('/x', { config, schema: { querystring } }, async (request) => ({
    query: request.query,
    tenant: request.tenant,
  }))
  const held = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
  assertRefused(held, 'ERR_AUTH_TENANT_MISSING')
  const named = await app.inject({
    method: 'OPTIONS',
    url: '/x?tenant=test-tenant',
    headers: PREFLIGHT,
  })
  assert.deepEqual(named.json(), { query: { tenant: 'test-tenant' }, tenant: 'test-tenant' })
})

test('a handler of OPTIONS answers a request that is allowed', async (t) => {
  const app = await guardedApp(t)
  app.options('/x', async () => 'yes')
  const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: await as() })
  assert.equal(outcome(response), '200')
})
