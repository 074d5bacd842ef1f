import assert from 'node:assert/strict'
import { test } from 'node:test'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { authorizationOf } from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

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

test('a preflight without an answer is refused before the OPTIONS handler of the application', async (t) => {
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

/** Parts that make a request more than a preflight. It is refused at once, before it is read. */
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
  test(`with ${what} a request is not a preflight, and later hooks do not see it`, async (t) => {
    const app = await guardedApp(t)
    let seen = 0
    app.addHook('onRequest', async () => {
      seen++
    })
    await app.register(cors, { origin: true })
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

/** Parts that are missing from a preflight. */
const LESS: readonly [what: string, method: 'OPTIONS' | 'GET', headers: Record<string, string>][] =
  [
    ['no Origin', 'OPTIONS', { 'access-control-request-method': 'GET' }],
    ['no Access-Control-Request-Method', 'OPTIONS', { origin: 'https://app.test' }],
    ['another method', 'GET', PREFLIGHT],
  ]

for (const [what, method, headers] of LESS) {
  test(`with ${what} a request is not a preflight`, async (t) => {
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

test('in dev mode the refusal of a preflight stands, even if a schema adds to the query later', async (t) => {
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

/** Hooks of a route and its scope. They must not see a preflight without an answer. */
const HOOKS = ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const

/** A route that would answer a preflight with an error of its own. */
function spoil(app: FastifyInstance, ran: string[], config: object = {}): void {
  const notes = HOOKS.map((hook) => [hook, async () => void ran.push(hook)])
  app.options('/x', {
    config,
    schema: { querystring: { type: 'object', required: ['page'] } },
    ...Object.fromEntries(notes),
    handler: async () => ran.push('handler'),
  })
}

/** Where @fastify/cors is, and whether it can answer the preflight of the route. */
const PLACES: readonly [
  where: string,
  write: (app: FastifyInstance, route: (scope: FastifyInstance) => void) => Promise<unknown>,
  isAnswered: boolean,
][] = [
  [
    'nowhere',
    async (app, route) => {
      await app.register(tenantAuth, trusting())
      route(app)
    },
    false,
  ],
  [
    'before the guard',
    async (app, route) => {
      await app.register(cors, { origin: true })
      await app.register(tenantAuth, trusting())
      route(app)
    },
    true,
  ],
  [
    'before the guard, switched off for the route',
    async (app, route) => {
      await app.register(cors, { origin: false })
      await app.register(tenantAuth, trusting())
      route(app)
    },
    false,
  ],
  [
    'after the guard',
    async (app, route) => {
      await app.register(tenantAuth, trusting())
      await app.register(cors, { origin: true })
      route(app)
    },
    true,
  ],
  [
    'after the guard and the route',
    async (app, route) => {
      await app.register(tenantAuth, trusting())
      route(app)
      await app.register(cors, { origin: true })
    },
    true,
  ],
  [
    'in the child of the route',
    async (app, route) => {
      await app.register(tenantAuth, trusting())
      await app.register(async (child) => {
        await child.register(cors, { origin: true })
        route(child)
      })
    },
    true,
  ],
  [
    'in the scope around the route',
    async (app, route) => {
      await app.register(tenantAuth, trusting())
      await app.register(cors, { origin: true })
      await app.register(async (child) => route(child))
    },
    true,
  ],
  [
    'in another child',
    async (app, route) => {
      await app.register(tenantAuth, trusting())
      await app.register(async (child) => {
        await child.register(cors, { origin: true })
        child.get('/y', async () => 'y')
      })
      await app.register(async (child) => route(child))
    },
    false,
  ],
  [
    'in the root, before a guard of a child',
    async (app, route) => {
      await app.register(cors, { origin: true })
      await app.register(async (child) => {
        await child.register(tenantAuth, trusting({ uncovered: 'ignore' }))
        route(child)
      })
    },
    true,
  ],
]

for (const [where, write, isAnswered] of PLACES) {
  test(`with @fastify/cors ${where} a preflight is ${isAnswered ? 'answered' : 'refused at once'}`, async (t) => {
    const app = bareApp(t)
    const ran: string[] = []
    await write(app, (scope) => spoil(scope, ran))
    const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
    if (isAnswered) assert.equal(response.statusCode, 204)
    else assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
    assert.deepEqual(ran, [])
  })
}

test('@fastify/cors after the guard may answer on preParsing too', async (t) => {
  const { logger, messages } = logLines()
  const app = await guardedApp(t, {}, { logger })
  await app.register(cors, { origin: true, hook: 'preParsing' })
  const ran: string[] = []
  spoil(app, ran)
  const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
  assert.equal(response.statusCode, 204)
  assert.deepEqual(ran, ['onRequest'])
  assert.deepEqual(lateCorsIn(messages(40)), [])
})

type CorsHook = 'onRequest' | 'preParsing' | (typeof LATE_HOOKS)[number]

const LATE_HOOKS = ['preValidation', 'preHandler', 'preSerialization'] as const

/** The hook of @fastify/cors, its side of the guard, and whether the boot warns of it. */
const SIDES_OF_HOOKS: readonly [CorsHook, 'before' | 'after', isLate: boolean][] = [
  ...LATE_HOOKS.flatMap((hook): [CorsHook, 'before' | 'after', boolean][] => [
    [hook, 'before', true],
    [hook, 'after', true],
  ]),
  ['preParsing', 'before', true],
  ['preParsing', 'after', false],
  ['onRequest', 'before', false],
  ['onRequest', 'after', false],
]

for (const [hook, side, isLate] of SIDES_OF_HOOKS) {
  test(`@fastify/cors ${side} the guard on ${hook}: ${isLate ? 'one warning' : 'none'} that preflights are refused first`, async (t) => {
    const { logger, messages } = logLines()
    const app = bareApp(t, { logger })
    if (side === 'before') await app.register(cors, { hook })
    await app.register(tenantAuth, trusting())
    if (side === 'after') await app.register(cors, { hook })
    await app.ready()
    const expected = `tenant auth: @fastify/cors answers on ${hook}, after the guard has refused a preflight; let it answer on onRequest`
    assert.deepEqual(lateCorsIn(messages(40)), isLate ? [expected] : [])
    const response = await app.inject({ method: 'OPTIONS', url: '/y', headers: PREFLIGHT })
    assert.equal(response.statusCode, isLate ? 401 : 204)
  })
}

test('without @fastify/cors in the guarded scope there is no warning of its hook', async (t) => {
  const { logger, messages } = logLines()
  const app = bareApp(t, { logger })
  await app.register(async (child) => void child.register(cors, { hook: 'preHandler' }))
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting({ uncovered: 'ignore' }))
    child.options('/x', async () => 'x')
  })
  await app.ready()
  assert.deepEqual(lateCorsIn(messages(40)), [])
})

function lateCorsIn(warnings: readonly string[]): string[] {
  return warnings.filter((warning) => warning.includes('@fastify/cors answers on'))
}

/**
 * Things that keep @fastify/cors, after the guard, from answering. On the later hooks it comes too
 * late.
 */
const SILENT: readonly [what: string, options: FastifyCorsOptions, config: object][] = [
  ['the route switches cors off', { origin: true }, { cors: false }],
  ['the origin is not allowed', { origin: false }, {}],
  ['its preflights are off', { origin: true, preflight: false }, {}],
  ['it leaves them to the route', { origin: true, preflightContinue: true }, {}],
  ...LATE_HOOKS.map((hook): (typeof SILENT)[number] => [`its hook is ${hook}`, { hook }, {}]),
]

for (const [what, options, config] of SILENT) {
  test(`where ${what} a preflight is refused before the hooks of the route and its schema`, async (t) => {
    const app = await guardedApp(t)
    await app.register(cors, options)
    const ran: string[] = []
    spoil(app, ran, config)
    const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
    assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
    assert.deepEqual(ran, [])
  })
}

test('an early OPTIONS route leaves preflights to @fastify/cors', async (t) => {
  const app = bareApp(t)
  const ran: string[] = []
  spoil(app, ran)
  await app.register(tenantAuth, trusting())
  await app.register(cors, { origin: true })
  const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
  assert.deepEqual([response.statusCode, ran], [204, []])
})

test('a preflight without an answer of @fastify/cors meets no hook of the route that needs the tenant', async (t) => {
  const app = await guardedApp(t)
  await app.register(cors, { origin: false })
  const onRequest = async (request: { tenant: unknown }) => void String(request.tenant).length
  app.options('/x', { config: { tenant: true }, onRequest }, async () => 'never')
  const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
  assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
})

test('an onRoute hook that removes the gate closes the route to preflights', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    route.preParsing = async () => void ran.push('another')
  })
  await app.register(cors, { origin: true })
  const ran: string[] = []
  spoil(app, ran)
  const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
  assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
  assert.deepEqual(ran, [])
})

test('a preflight that is held back is refused where a later hook calls the not-found handler', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRequest', async (_request, reply) => reply.callNotFound())
  await app.register(cors, { origin: true })
  app.setNotFoundHandler({ preHandler: async () => {} }, async () => 'never')
  spoil(app, [])
  const response = await app.inject({ method: 'OPTIONS', url: '/x', headers: PREFLIGHT })
  assertRefused(response, 'ERR_AUTH_TOKEN_MISSING')
})

test('the gate lets requests pass that are not preflights, and keeps the hooks of the route', async (t) => {
  const app = await guardedApp(t)
  await app.register(cors, { origin: true })
  const ran: string[] = []
  app.route({
    method: ['OPTIONS', 'POST'],
    url: '/x',
    preParsing: [async () => void ran.push('one'), async () => void ran.push('two')],
    handler: async ({ body }) => body,
  })
  const response = await app.inject({
    method: 'POST',
    url: '/x',
    headers: await as(),
    payload: { soup: 1 },
  })
  assert.deepEqual(response.json(), { soup: 1 })
  assert.deepEqual(ran, ['one', 'two'])
})
