import assert from 'node:assert/strict'
import { hasSubscribers } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import cors from '@fastify/cors'
import websocket from '@fastify/websocket'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { publishInternal } from '../../lib/guard/decision-events.ts'
import tenantAuth, { type AuthOptions, refusalOf } from '../../lib/index.ts'
import {
  as,
  authority,
  bareApp,
  guardedApp,
  trusting,
  untyped,
} from '../helpers/app/guarded-app.ts'
import { heard, listen } from '../helpers/app/heard.ts'
import { outcome, REFUSALS, type RefusalCode } from '../helpers/app/refusals.ts'
import { greeting, refusal, socketTo } from '../helpers/app/sockets.ts'
import { until } from '../helpers/processes/until.ts'

const ISSUER = authority.options.issuer
const USER = 'test-user'
const handler = async () => 'x'
const never = () => new Promise<never>(() => {})

/** The event of a stranger, with the differences of a case. */
const STRANGER = {
  outcome: 'refused',
  code: 'ERR_AUTH_TOKEN_MISSING',
  statusCode: 401,
  reason: 'no bearer token',
  issuer: null,
  sub: null,
  tokenSub: null,
  actor: null,
  tenant: null,
  required: null,
  checks: null,
  cached: null,
  bound: null,
} as const

/** The event of a user who is let through. */
const ADMITTED = {
  ...STRANGER,
  outcome: 'admitted',
  code: null,
  statusCode: null,
  reason: null,
  issuer: ISSUER,
  sub: USER,
  tokenSub: USER,
  cached: false,
} as const

/** An application with a route of each kind. */
async function guarded(t: TestContext, options: AuthOptions = {}): Promise<FastifyInstance> {
  const app = await guardedApp(t, options)
  const needs = { config: { require: ['order:read', 'order:erase'] } }
  app.get('/x', handler)
  app.get('/:tenant/x', handler)
  app.get('/query', { config: { tenant: true } }, handler)
  app.get('/:tenant/needs', needs, handler)
  app.get('/:tenant/any', { config: { require: { any: ['order:read', 'a:b'] } } }, handler)
  app.get('/open', { config: { noauth: true } }, handler)
  app.get('/broken', async () => {
    throw new Error('the handler failed')
  })
  return app
}

test('the page of the log lists the members of a message, in their order', () => {
  const text = readFileSync('.github/docs/guides/log.md', 'utf8')
  const listed = /request, once: `\{ ([^}]+) \}`/.exec(text)?.[1]?.split(/,\s+/)
  assert.deepEqual(listed, ['request', ...Object.keys(ADMITTED)])
})

/** The messages without their requests, of which each must be the one that was asked. */
function without(messages: readonly { readonly request: unknown }[]): object[] {
  return messages.map(({ request: _, ...rest }) => rest)
}

test('a message has the members of the contract, in one shape, and is immutable but for its request', async (t) => {
  const events = heard(t, 'decision')
  const app = await guarded(t)
  let request: unknown
  app.addHook('onResponse', async (each) => {
    request = each
  })
  const headers = await as(
    { acme: ['order:read'] },
    { act: { sub: 'desk', iss: 'https://d.test' } },
  )
  await app.inject({ url: '/acme/any', headers })
  await app.inject('/acme/needs')
  assert.deepEqual(without(events), [
    {
      ...ADMITTED,
      actor: { sub: 'desk', issuer: 'https://d.test' },
      tenant: 'acme',
      required: ['order:read', 'a:b'],
    },
    { ...STRANGER, tenant: 'acme', required: ['order:read', 'order:erase'] },
  ])
  const [first, second] = events
  assert.deepEqual(Object.keys(first ?? {}), ['request', ...Object.keys(ADMITTED)])
  assert.deepEqual(Object.keys(second ?? {}), Object.keys(first ?? {}))
  assert.equal(Object.getPrototypeOf(first), Object.prototype)
  for (const part of [first, first?.actor, first?.required, second?.required]) {
    assert.equal(Object.isFrozen(part), true)
  }
  await until(() => request === second?.request)
})

test('a message holds no token, and no claim beside issuer, sub and actor', async (t) => {
  const events = heard(t, 'decision')
  const app = await guarded(t)
  const headers = await as({ acme: [] }, { preferred_username: 'canary', email: 'canary' })
  for (const url of ['/acme/x', '/ghost/x']) await app.inject({ url, headers })
  const text = JSON.stringify(without(events))
  assert.equal(events.length, 2)
  assert.equal(text.includes('canary'), false)
  assert.equal(text.includes(headers.authorization.slice('Bearer '.length, 60)), false)
})

/** Each refusal of the contract, how it comes about, and what its event shows. */
const CASES: Readonly<
  Record<
    RefusalCode,
    {
      options?: object
      url: string
      token?: string | null
      claims?: Record<string, unknown>
      event: object
    }
  >
> = {
  ERR_AUTH_TOKEN_MISSING: { url: '/acme/x', token: null, event: { sub: null, cached: null } },
  ERR_AUTH_TOKEN_INVALID: {
    url: '/query?tenant=acme',
    token: 'no-token',
    event: { sub: null, cached: false },
  },
  ERR_AUTH_TENANT_FORBIDDEN: { url: '/ghost/x', event: { tenant: 'ghost' } },
  ERR_AUTH_RESOURCE_MISSING: {
    url: '/acme/needs',
    event: { required: ['order:read', 'order:erase'] },
  },
  ERR_AUTH_STEP_UP_REQUIRED: { url: '/acme/fresh', event: {} },
  ERR_AUTH_TENANT_MISSING: { url: '/query', event: { tenant: null } },
  ERR_AUTH_TENANT_INVALID: { url: '/query?tenant=*', event: { tenant: null } },
  ERR_AUTH_TENANT_UNKNOWN: { url: '/acme/x', options: { tenants: ['other'] }, event: {} },
  ERR_AUTH_TENANT_SUSPENDED: { url: '/acme/x', options: { tenants: () => 'suspended' }, event: {} },
  ERR_AUTH_NOT_PERMITTED: {
    url: '/acme/checked',
    options: { checks: { own: () => false } },
    event: { checks: ['own'] },
  },
  ERR_AUTH_PROOFS_UNAVAILABLE: {
    url: '/acme/x',
    claims: { cnf: { 'x5t#S256': 'A'.repeat(43) } },
    options: {
      confirmation: 'check',
      publicUrl: 'https://api.test',
      clientCertificate: () => {
        throw new Error('no header')
      },
    },
    event: { sub: null },
  },
  ERR_AUTH_CHECK_UNAVAILABLE: {
    url: '/acme/checked',
    options: { checks: { own: never }, tenantsTimeout: 0.01 },
    event: { checks: ['own'] },
  },
  ERR_AUTH_KEYS_UNAVAILABLE: {
    url: '/acme/x',
    options: { publicKeysUrl: 'http://127.0.0.1:1/keys' },
    event: { sub: null, cached: false },
  },
  ERR_AUTH_TENANTS_UNAVAILABLE: {
    url: '/acme/x',
    options: { tenants: never, tenantsTimeout: 0.01 },
    event: {},
  },
  ERR_AUTH_REVOCATION_UNAVAILABLE: {
    url: '/acme/x',
    options: { isRevoked: never, tenantsTimeout: 0.01 },
    event: { sub: null },
  },
  ERR_AUTH_ISSUERS_UNAVAILABLE: {
    url: '/acme/x',
    options: { publicKeys: undefined, issuer: undefined, issuers: () => 5 },
    event: { sub: null, cached: false },
  },
  ERR_AUTH_INTROSPECTION_UNAVAILABLE: {
    url: '/acme/x',
    token: 'opaque',
    options: { opaqueToken: () => 5 },
    event: { sub: null, cached: false },
  },
  ERR_AUTH_RESOURCES_UNAVAILABLE: {
    url: '/acme/x',
    options: { resourcesOf: () => 5 },
    event: { sub: null },
  },
}

for (const [code, refused] of Object.entries(CASES)) {
  const { options = {}, url, token, claims = {}, event: expected } = refused
  for (const method of ['GET', 'HEAD'] as const) {
    test(`${method}: ${code} is emitted once, with what is known by then`, async (t) => {
      const events = heard(t, 'decision')
      const app = bareApp(t)
      const given = Object.entries({ ...trusting(options), ...options })
      await app.register(
        tenantAuth,
        untyped(Object.fromEntries(given.filter(([, value]) => value !== undefined))),
      )
      app.get('/query', { config: { tenant: true } }, handler)
      app.get('/:tenant/x', handler)
      app.get('/:tenant/needs', { config: { require: ['order:read', 'order:erase'] } }, handler)
      app.get('/:tenant/fresh', { config: { stepUp: { acr: 'phr' } } }, handler)
      if ('checks' in options) {
        app.get('/:tenant/checked', { config: { check: 'own' } }, handler)
      }
      const user = await as({ acme: ['order:read'] }, claims)
      const bearer = token === undefined ? user : { authorization: `Bearer ${token}` }
      let reason: string | undefined
      app.addHook('onError', async (request) => {
        reason = refusalOf(request)?.error.reason
      })
      const response = await app.inject({ method, url, headers: token === null ? {} : bearer })
      const { status } = REFUSALS[code as RefusalCode]
      assert.equal(response.statusCode, status)
      const isKnown = !('sub' in expected)
      assert.deepEqual(without(events), [
        {
          ...STRANGER,
          code,
          statusCode: status,
          reason,
          issuer: isKnown ? ISSUER : null,
          sub: isKnown ? USER : null,
          tokenSub: isKnown ? USER : null,
          tenant: 'acme',
          cached: false,
          ...expected,
        },
      ])
    })
  }
}

/** Requests of which each makes as many messages as are listed. */
const ONCE: readonly [what: string, request: InjectOptions, status: number, events: object[]][] = [
  ['a HEAD request', { method: 'HEAD', url: '/x' }, 200, [ADMITTED]],
  ['a handler that fails', { url: '/broken' }, 500, [ADMITTED]],
  ['a noauth route', { url: '/open' }, 200, []],
  ['a url that no route matches', { url: '/none/at/all' }, 404, []],
]

for (const [what, request, status, expected] of ONCE) {
  test(`of ${what} is emitted: ${expected.length === 0 ? 'nothing' : 'one admission'}`, async (t) => {
    const events = heard(t, 'decision')
    const app = await guarded(t)
    const { statusCode } = await app.inject({ ...request, headers: await as() })
    assert.equal(statusCode, status)
    assert.deepEqual(without(events), expected)
    const { admitted, refused } = app.authService.stats().decisions
    assert.deepEqual([admitted, refused], [expected.length, {}])
  })
}

test('a token that was seen before is reported as cached; in dev mode no token counts', async (t) => {
  const events = heard(t, 'decision')
  const app = await guarded(t)
  const headers = await as()
  for (const _ of [1, 2]) await app.inject({ url: '/x', headers })
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3_600_000 })
  await app.inject({ url: '/x', headers })
  const dev = await guarded(t, { devMode: true })
  await dev.inject('/x')
  const seen = events.map(({ cached, sub, issuer }) => [cached, sub, issuer])
  assert.deepEqual(seen, [
    [false, USER, ISSUER],
    [true, USER, ISSUER],
    // Expired since.
    [true, null, null],
    [null, 'dev', null],
  ])
})

const PREFLIGHT = {
  method: 'OPTIONS',
  headers: { origin: 'https://app.test', 'access-control-request-method': 'GET' },
} as const

for (const side of ['before', 'after', 'nowhere'] as const) {
  test(`a preflight is a request like any other, with @fastify/cors ${side}`, async (t) => {
    const events = heard(t, 'decision')
    const app = bareApp(t)
    if (side === 'before') await app.register(cors, { origin: true })
    await app.register(tenantAuth, trusting())
    if (side === 'after') await app.register(cors, { origin: true })
    app.options('/:tenant/x', handler)
    const answer = await app.inject({ ...PREFLIGHT, url: '/acme/x' })
    assert.equal(answer.statusCode, side === 'before' ? 204 : 401)
    await new Promise(setImmediate)
    assert.deepEqual(without(events), side === 'before' ? [] : [{ ...STRANGER, tenant: 'acme' }])
  })
}

test('upgrades are reported as requests are, admitted and refused', async (t) => {
  const events = heard(t, 'decision')
  const app = bareApp(t)
  await app.register(websocket)
  await app.register(tenantAuth, trusting())
  app.get('/:tenant/chat', { websocket: true }, (socket) => socket.send('hello'))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const headers = await as()
  assert.equal(await greeting(socketTo(app, '/lazy-raccoon/chat', { headers })), 'hello')
  assert.equal((await refusal(socketTo(app, '/ghost/chat', { headers }))).statusCode, 403)
  assert.deepEqual(
    events.map(({ outcome, tenant }) => [outcome, tenant]),
    [
      ['admitted', 'lazy-raccoon'],
      ['refused', 'ghost'],
    ],
  )
})

/** Late answers of `isRevoked`, after the client has gone or the application has begun to close. */
for (const [what, isRevoked, expected] of [
  ['admitted', false, [['admitted', null]]],
  ['refused', true, [['refused', 'ERR_AUTH_TOKEN_INVALID']]],
] as const) {
  test(`a request whose client goes away before it is ${what} is reported so`, async (t) => {
    const events = heard(t, 'decision')
    let answer: ((value: boolean) => void) | undefined
    const ask = () => new Promise<boolean>((resolve) => (answer = resolve))
    const app = await guarded(t, { isRevoked: ask })
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { authorization } = await as()
    const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`GET /x HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`)
    await until(() => answer !== undefined)
    socket.destroy()
    assert.deepEqual(events, [])
    answer?.(isRevoked)
    await until(() => events.length > 0)
    const found = events.map(({ outcome, code }) => [outcome, code])
    assert.deepEqual(found, expected)
  })
}

test('a request whose wait the shutdown ends is reported with its 503', async (t) => {
  const events = heard(t, 'decision')
  const isRevoked = t.mock.fn(never)
  const app = await guarded(t, { isRevoked, tenantsTimeout: 30 })
  const response = app.inject({ url: '/x', headers: await as() })
  await until(() => isRevoked.mock.callCount() === 1)
  await app.close()
  assert.equal((await response).statusCode, 503)
  assert.deepEqual(
    events.map(({ code, statusCode, reason }) => [code, statusCode, reason]),
    [
      [
        'ERR_AUTH_REVOCATION_UNAVAILABLE',
        503,
        'isRevoked had not answered when the application closed',
      ],
    ],
  )
})

test('the 404 handler makes no second message, from an error handler and from a handler', async (t) => {
  const events = heard(t, 'decision')
  const app = await guardedApp(t)
  app.setErrorHandler((_error, _request, reply) => reply.callNotFound())
  app.get('/x', handler)
  app.get('/away', (_request, reply) => void reply.callNotFound())
  assert.equal((await app.inject('/x')).statusCode, 404)
  assert.equal((await app.inject({ url: '/away', headers: await as() })).statusCode, 404)
  assert.deepEqual(without(events), [STRANGER, ADMITTED])
})

test('a subscriber that throws is an uncaught exception of Node, and changes no answer', async (t) => {
  const uncaught: unknown[] = []
  process.setUncaughtExceptionCaptureCallback((error) => void uncaught.push(error))
  t.after(() => process.setUncaughtExceptionCaptureCallback(null))
  const error = new TypeError('on purpose')
  listen(t, 'decision', () => {
    throw error
  })
  const events = heard(t, 'decision')
  const app = await guarded(t)
  assert.equal((await app.inject({ url: '/x', headers: await as() })).body, 'x')
  assert.equal(outcome(await app.inject('/x')), '401 ERR_AUTH_TOKEN_MISSING')
  await until(() => uncaught.length === 2)
  assert.deepEqual(uncaught, [error, error])
  assert.equal(events.length, 2, 'the subscribers after the one that throws hear everything')
})

test('what a subscriber does to the request is its own; the decision stands', async (t) => {
  listen<{ request: object }>(t, 'decision', (message) => {
    assert.throws(() => Object.assign(message, { outcome: 'admitted' }), TypeError)
  })
  const app = await guarded(t)
  assert.equal(outcome(await app.inject('/x')), '401 ERR_AUTH_TOKEN_MISSING')
})

test('the decision stands when it is emitted: the request gives its authorization or its refusal', async (t) => {
  const seen: unknown[] = []
  listen<{ request: Parameters<typeof refusalOf>[0] }>(t, 'decision', ({ request }) => {
    seen.push(refusalOf(request)?.error.code ?? null)
  })
  const app = await guarded(t)
  await app.inject('/x')
  await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual(seen, ['ERR_AUTH_TOKEN_MISSING', null])
})

test('without a subscriber no message is made: the query of a stranger is not read for one', async (t) => {
  let reads = 0
  const querystringParser = () => ({
    get tenant() {
      reads++
      return 'acme'
    },
  })
  const app = await guardedApp(t, {}, { logger: false, routerOptions: { querystringParser } })
  app.get('/query', { config: { tenant: true } }, handler)
  const readsOfOne = async () => {
    reads = 0
    await app.inject('/query')
    return reads
  }
  assert.equal(hasSubscribers('fastify-tenant-auth:decision'), false)
  const unheard = await readsOfOne()
  heard(t, 'decision')
  assert.equal(await readsOfOne(), unheard + 1)
})

test('work without a request is reported as internal', (t) => {
  publishInternal({ sub: 'nobody hears it', tenant: 'acme' })
  const events = heard(t, 'decision')
  publishInternal({ sub: 'invoices', tenant: 'acme' })
  assert.deepEqual(events, [
    {
      ...ADMITTED,
      request: null,
      outcome: 'internal',
      issuer: null,
      sub: 'invoices',
      tokenSub: 'invoices',
      tenant: 'acme',
      cached: null,
    },
  ])
  assert.equal(Object.isFrozen(events[0]), true)
})
