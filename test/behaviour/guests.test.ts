import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyServerOptions } from 'fastify'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, {
  type AuthOptions,
  authorizationOf,
  currentAuthorization,
  errors,
  type RouteDeclaration,
  refusalOf,
  signalOf,
} from '../../lib/index.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'

const ALL = { tenant: true, userInfo: true, resources: true, authorization: true } as const

const GUEST = { user: null, resources: [], authorization: null, known: null }

/** An application with a route for guests in the path, in the query and without a tenant. */
async function start(t: TestContext, options: AuthOptions = {}, server: FastifyServerOptions = {}) {
  const app = await guardedApp(t, options, server)
  for (const [url, tenant] of [
    ['/path/:tenant', true],
    ['/query', 'optional'],
    ['/none', false],
  ] as const) {
    const config: RouteDeclaration = { ...ALL, tenant, guests: true }
    app.get(url, { config }, async (request) => ({
      tenant: request.tenant,
      user: request.userInfo?.sub ?? request.userInfo,
      resources: [...(request.resources ?? [])],
      authorization: request.authorization && 'there',
      known: authorizationOf(request)?.userInfo.sub ?? null,
      aborted: signalOf(request).aborted,
    }))
  }
  return app
}

const CASES: readonly [
  what: string,
  url: string,
  rights: Record<string, string[]> | null,
  seen: object,
][] = [
  ['nobody', '/path/acme', null, { ...GUEST, tenant: 'acme' }],
  ['nobody in the query', '/query?tenant=acme', null, { ...GUEST, tenant: 'acme' }],
  ['nobody without a tenant', '/query', null, { ...GUEST, tenant: null }],
  ['nobody on a route without one', '/none', null, GUEST],
  [
    'a member',
    '/path/acme',
    { acme: ['a:b'] },
    { tenant: 'acme', user: 'alice', resources: ['a:b'], authorization: 'there', known: 'alice' },
  ],
  ['a stranger to the tenant', '/path/other', { acme: ['a:b'] }, { ...GUEST, tenant: 'other' }],
  ['a stranger in the query', '/query?tenant=x', { acme: ['a:b'] }, { ...GUEST, tenant: 'x' }],
  [
    'a user without a tenant',
    '/none',
    { acme: ['a:b'] },
    { user: 'alice', resources: [], authorization: 'there', known: 'alice' },
  ],
]

for (const [what, url, rights, seen] of CASES) {
  for (const tokenCacheSize of [0, 100]) {
    test(`${what} at ${url} is served, with a cache of ${tokenCacheSize}`, async (t) => {
      const app = await start(t, { tokenCacheSize })
      const headers = rights === null ? {} : await as(rights, { sub: 'alice' })
      for (const method of ['GET', 'GET', 'HEAD'] as const) {
        const response = await app.inject({ method, url, headers })
        assert.equal(outcome(response), '200')
        if (method === 'GET') assert.deepEqual(response.json(), { ...seen, aborted: false })
      }
    })
  }
}

test('a bad token is refused, and never a guest', async (t) => {
  const app = await start(t, { isRevoked: ({ sub }) => sub === 'revoked' })
  const bad = [
    await authority.headers({ resources: { acme: [] } }, { expiresIn: -60 }),
    await as({ acme: [] }, { sub: 'revoked' }),
    await as({ acme: [] }, { cnf: { jkt: 'x' } }),
    { authorization: 'Bearer x.y.z' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer opaque' },
  ]
  for (const headers of bad) {
    assertRefused(await app.inject({ url: '/path/acme', headers }), 'ERR_AUTH_TOKEN_INVALID')
  }
  for (const authorization of ['', 'Basic YTpi']) {
    const response = await app.inject({ url: '/path/acme', headers: { authorization } })
    assert.equal(outcome(response), '200', 'what is no bearer token are no credentials')
  }
})

for (const [what, tokenFrom] of [
  [
    'throws',
    () => {
      throw new Error('broken')
    },
  ],
  [
    'throws an error of boot',
    () => {
      throw new errors.ERR_AUTH_CONFIG_INVALID('broken')
    },
  ],
  ['gives no string', () => 7],
] as const) {
  test(`a tokenFrom that ${what} makes no guest`, async (t) => {
    const app = await start(t, { tokenFrom: tokenFrom as () => null })
    assertRefused(await app.inject('/path/acme'), 'ERR_AUTH_TOKEN_INVALID')
  })
}

test('a tokenFrom that gives undefined makes no guest', async (t) => {
  const app = await start(t, { tokenFrom: () => undefined as unknown as null })
  assertRefused(await app.inject('/path/acme'), 'ERR_AUTH_TOKEN_MISSING')
})

test('a tokenFrom that gives null makes a guest', async (t) => {
  const app = await start(t, { tokenFrom: () => null })
  assert.equal(outcome(await app.inject('/path/acme')), '200')
})

test('keys that cannot be had are 503 of a token, and no matter of a guest', async (t) => {
  const app = await start(t, { publicKeysUrl: 'http://127.0.0.1:1/keys' })
  const headers = await as({ acme: [] })
  assert.equal(outcome(await app.inject('/path/acme')), '200')
  const response = await app.inject({ url: '/path/acme', headers })
  assertRefused(response, 'ERR_AUTH_KEYS_UNAVAILABLE')
})

test('an unknown tenant is 404 and a wrong name 400, of guests too, and names nobody', async (t) => {
  const events = heard(t, 'decision')
  const app = await start(t, { tenants: ['acme'] })
  const refusals: unknown[] = []
  app.addHook(
    'onResponse',
    async (request) => void refusals.push(refusalOf(request)?.authorization),
  )
  for (const headers of [{}, await as({ acme: [] })]) {
    const response = await app.inject({ url: '/path/other', headers })
    assertRefused(response, 'ERR_AUTH_TENANT_UNKNOWN')
  }
  assertRefused(await app.inject('/query?tenant='), 'ERR_AUTH_TENANT_INVALID')
  assert.deepEqual(refusals, [null, null, null])
  for (const { sub, issuer, tokenSub } of events) {
    assert.deepEqual([sub, issuer, tokenSub], [null, null, null])
  }
  assert.equal(events.length, 3)
})

test('a guest whose tenant cannot be checked is refused', async (t) => {
  for (const tenants of [() => assert.fail('broken'), () => 'yes' as unknown as boolean]) {
    const app = await start(t, { tenants })
    const response = await app.inject('/path/acme')
    assertRefused(response, 'ERR_AUTH_TENANTS_UNAVAILABLE')
    assert.equal(outcome(await app.inject('/none')), '200')
  }
})

test('a guest with a token is nobody to code below, and its signal outlives the token', async (t) => {
  const list = denyList()
  const app = await guardedApp(t, { asyncContext: true, isRevoked: list })
  let signal: AbortSignal | undefined
  app.get('/:tenant', { config: { guests: true } }, async (request) => {
    signal = signalOf(request)
    await list.add({ sub: 'alice' })
    return { current: currentAuthorization(), aborted: signal.aborted }
  })
  const headers = await as({ acme: [] }, { sub: 'alice' })
  const response = await app.inject({ url: '/other', headers })
  assert.deepEqual(response.json(), { current: null, aborted: false })
  assert.equal(signal?.aborted, false)
  assertRefused(await app.inject({ url: '/other', headers }), 'ERR_AUTH_TOKEN_INVALID')
})

test('a user whose token ends before the handler is refused, and is no guest then', async (t) => {
  const isRevoked = denyList()
  const app = await guardedApp(t, { isRevoked })
  const preValidation = async () => isRevoked.add({ sub: 'alice' })
  app.post('/x', { config: { guests: true }, preValidation }, async () => 'x')
  const headers = await as({}, { sub: 'alice' })
  assertRefused(await app.inject({ method: 'POST', url: '/x', headers }), 'ERR_AUTH_TOKEN_INVALID')
  assert.equal((await app.inject({ method: 'POST', url: '/x' })).body, 'x')
})

test('a user whose key is replaced before the handler is refused, and is no guest then', async (t) => {
  const other = await createTestAuthority()
  let { publicKeys } = authority
  const server = await askedServer((_, response) => response.end(JSON.stringify(publicKeys)))
  const app = await guardedApp(t, { publicKeysUrl: server.url })
  const preValidation = async () => {
    publicKeys = other.publicKeys
    await app.authService.refreshKeys()
  }
  app.post('/x', { config: { guests: true }, preValidation }, async () => 'x')
  const response = await app.inject({ method: 'POST', url: '/x', headers: await as(), payload: {} })
  assertRefused(response, 'ERR_AUTH_TOKEN_INVALID')
})

test('events and lines of a guest name no user; why a user is one stands at level debug', async (t) => {
  const log = logLines('debug')
  const events = heard(t, 'decision')
  const app = await start(t, { logBindings: ['sub', 'tenant'] }, { logger: log.logger })
  const headers = await as({ acme: [] }, { sub: 'alice' })
  await app.inject({ url: '/path/other', headers })
  const [event] = events
  const { outcome: verdict, sub, issuer, tokenSub, tenant, cached } = Object(event)
  const shown = [verdict, sub, issuer, tokenSub, tenant, cached]
  assert.deepEqual(shown, ['admitted', null, null, null, 'other', null])
  assert.deepEqual(app.authService.stats().decisions, { admitted: 1, refused: {} })
  const actual = log.raw.some((line) => line.includes('alice'))
  assert.equal(actual, false)
  const [why] = log.lines('counts as a guest')
  const logged = [why?.level, why?.['reason']]
  assert.deepEqual(logged, [20, 'the user may not act for the tenant'])
})

test('in dev mode the mock user is a guest where it is no member', async (t) => {
  const app = await start(t, { devMode: true })
  const at = async (url: string) => (await app.inject(url)).json()
  assert.equal((await at('/path/default')).user, 'dev')
  assert.deepEqual(await at('/path/other'), { ...GUEST, tenant: 'other', aborted: false })
})

test('on an early route guests are not declared', async (t) => {
  const app = bareApp(t)
  app.get('/early', { config: { guests: true } }, async () => 'x')
  await app.register(tenantAuth, trusting())
  assertRefused(await app.inject('/early'), 'ERR_AUTH_TOKEN_MISSING')
})

test('no other route changes', async (t) => {
  const app = await start(t)
  app.get('/closed/:tenant', async () => 'x')
  app.get('/false/:tenant', { config: { guests: false } }, async () => 'x')
  const headers = await as({ acme: [] })
  for (const url of ['/closed/other', '/false/other']) {
    assertRefused(await app.inject(url), 'ERR_AUTH_TOKEN_MISSING')
    assertRefused(await app.inject({ url, headers }), 'ERR_AUTH_TENANT_FORBIDDEN')
  }
})

const CONTRADICTIONS: readonly [config: object, message: string][] = [
  [{ guests: true, require: 'a:b' }, 'guests contradicts require'],
  [{ guests: true, check: 'own' }, 'guests contradicts check'],
  [{ guests: true, stepUp: { maxAge: 60 } }, 'guests contradicts stepUp'],
  [{ guests: true, confirmation: 'require' }, 'guests contradicts confirmation'],
  [{ guests: true, noauth: true }, 'noauth contradicts guests'],
  [{ guests: 'yes' }, "guests is no boolean, found 'yes'"],
  [{ guest: true }, 'guest looks like guests'],
  [{ Guests: true }, 'Guests looks like guests'],
]

for (const [config, message] of CONTRADICTIONS) {
  test(`${JSON.stringify(config)} stops the boot: ${message}`, async (t) => {
    const options = { confirmation: 'check', publicUrl: 'https://api.test' } as const
    const app = await guardedApp(t, { ...options, checks: { own: () => true } })
    app.get('/x', { config }, async () => 'x')
    await assertRouteInvalid(app, `GET /x: ${message}`)
  })
}

test('routes() and the document show guests', async (t) => {
  const app = await start(t)
  await app.ready()
  const shown = app.authService.routes().every(({ guests }) => guests === true)
  assert.equal(shown, true)
  const document = app.authService.openapi({
    openapi: '3.1.0',
    info: { title: 'x', version: '1' },
    paths: { '/none': { get: { responses: {} } } },
  })
  assert.deepEqual(document.paths['/none'].get, {
    security: [{ bearerAuth: [] }, {}],
    responses: Object(document.paths['/none'].get).responses,
  })
})
