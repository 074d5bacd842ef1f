import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import { WrittenRoute } from '../../lib/declaration/written-route.ts'
import { isPreflight, Preflights } from '../../lib/guard/preflight.ts'
import { type AuthOptions, refusalOf } from '../../lib/index.ts'
import { bareApp, guardedApp } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'

const ORIGIN = { origin: 'https://app.test' }
const METHOD = { 'access-control-request-method': 'GET' }
const PREFLIGHT = { method: 'OPTIONS', url: '/x', headers: { ...ORIGIN, ...METHOD } } as const

/** Requests, and whether they are preflights and nothing else. */
const REQUESTS: readonly [
  what: string,
  method: 'OPTIONS' | 'GET',
  headers: Record<string, string>,
  isPreflight: boolean,
][] = [
  ['a preflight', 'OPTIONS', { ...ORIGIN, ...METHOD }, true],
  ['an empty body', 'OPTIONS', { ...ORIGIN, ...METHOD, 'content-length': '0' }, true],
  ['another method', 'GET', { ...ORIGIN, ...METHOD }, false],
  ['no origin', 'OPTIONS', METHOD, false],
  ['no requested method', 'OPTIONS', ORIGIN, false],
  ['credentials', 'OPTIONS', { ...ORIGIN, ...METHOD, authorization: '' }, false],
  ['an encoding', 'OPTIONS', { ...ORIGIN, ...METHOD, 'transfer-encoding': 'chunked' }, false],
  ['a content type', 'OPTIONS', { ...ORIGIN, ...METHOD, 'content-type': 'text/plain' }, false],
  ['a body', 'OPTIONS', { ...ORIGIN, ...METHOD, 'content-length': '5' }, false],
]

test('a request is a preflight if it has all parts of one and no others', async (t) => {
  const app = bareApp(t)
  let found: boolean | undefined
  app.addHook('onRequest', async (request, reply) => {
    found = isPreflight(request)
    return reply.send('x')
  })
  app.route({ method: ['OPTIONS', 'GET'], url: '/x', handler: async () => 'never' })
  for (const [what, method, headers, expected] of REQUESTS) {
    await app.inject({ method, url: '/x', headers })
    assert.equal(found, expected, what)
  }
})

test('the routes that take preflights have gates', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const preflights = new Preflights(app)
  const gates: unknown[] = []
  app.addHook('onRoute', (options) => {
    preflights.keep(new WrittenRoute(app, options))
    const { method, onRequest = [], preParsing = [] } = options
    gates.push([method, [onRequest].flat().length, [preParsing].flat().length])
  })
  app.get('/x', async () => 'x')
  app.options('/x', async () => 'x')
  assert.deepEqual(gates, [
    ['GET', 0, 0],
    ['OPTIONS', 1, 1],
  ])
})

/** A guarded application whose preflights of `/x` meet a step, and then @fastify/cors. */
async function withCors(
  t: TestContext,
  step: (app: FastifyInstance) => void,
  { config = {}, ...options }: FastifyCorsOptions & { readonly config?: object } = {},
  auth: AuthOptions = {},
) {
  const { logger, lines } = logLines()
  const app = await guardedApp(t, auth, { logger })
  step(app)
  await app.register(cors, { origin: true, ...options })
  const ran: string[] = []
  app.options('/x', {
    config,
    onRequest: async () => void ran.push('onRequest'),
    preParsing: async () => void ran.push('preParsing'),
    handler: async () => ran.push('handler'),
  })
  app.options('/:tenant/x', async () => 'never')
  return { app, ran, lines }
}

const decisionsOf = (app: FastifyInstance) => app.authService.stats().decisions
const REFUSED = { admitted: 0, refused: { ERR_AUTH_TOKEN_MISSING: 1 } }

/** The status of the answer to a preflight that is held back, and what is counted. */
for (const [status, counted] of [
  [200, { admitted: 1, refused: {} }],
  [399, { admitted: 1, refused: {} }],
  [400, REFUSED],
  [429, REFUSED],
] as const) {
  test(`a preflight that another hook answers with ${status} counts as ${counted.admitted === 1 ? 'admitted' : 'refused'}`, async (t) => {
    const { app } = await withCors(t, (app) => {
      app.addHook('onRequest', async (_request, reply) => reply.code(status).send('x'))
    })
    assert.equal((await app.inject(PREFLIGHT)).statusCode, status)
    await until(() => JSON.stringify(decisionsOf(app)) !== '{"admitted":0,"refused":{}}')
    assert.deepEqual(decisionsOf(app), counted)
  })
}

test('a preflight that cors answers is counted once, and its lines name the tenant before', async (t) => {
  const { app, lines } = await withCors(
    t,
    (app) => app.addHook('onRequest', async ({ log }) => log.info('on the way')),
    {},
    { logBindings: ['tenant'] },
  )
  const response = await app.inject({ ...PREFLIGHT, url: '/lazy-raccoon/x' })
  assert.equal(response.statusCode, 204)
  await until(() => decisionsOf(app).admitted > 0)
  assert.deepEqual(decisionsOf(app), { admitted: 1, refused: {} })
  assert.equal(lines('on the way')[0]?.['tenant'], 'lazy-raccoon')
})

/** Where cors does not answer, and the hooks of the route that run before the gate. */
for (const [what, options, expected] of [
  ['on onRequest', { origin: false }, []],
  ['on preParsing', { origin: false, hook: 'preParsing' }, ['onRequest']],
  ['on the route', { config: { cors: false } }, []],
] as const) {
  test(`a preflight that cors does not answer ${what} is refused and counted once`, async (t) => {
    const codes: unknown[] = []
    const { app, ran } = await withCors(
      t,
      (app) => {
        app.addHook('onError', async (request) => void codes.push(refusalOf(request)?.error.code))
      },
      options,
    )
    assertRefused(await app.inject(PREFLIGHT), 'ERR_AUTH_TOKEN_MISSING')
    await setImmediate()
    await setImmediate()
    assert.deepEqual([ran, codes], [expected, ['ERR_AUTH_TOKEN_MISSING']])
    assert.deepEqual(decisionsOf(app), REFUSED)
  })
}

test('a preflight that a gate refuses stays refused where an error handler answers with 200', async (t) => {
  const { app } = await withCors(
    t,
    (app) => app.setErrorHandler((_error, _request, reply) => reply.code(200).send('mended')),
    { origin: false },
  )
  const ended = new Promise((resolve) => app.addHook('onResponse', async () => resolve(null)))
  assert.equal((await app.inject(PREFLIGHT)).body, 'mended')
  await ended
  await setImmediate()
  await setImmediate()
  assert.deepEqual(decisionsOf(app), REFUSED)
})

test('a gate refuses before the hooks of its route, also where cors is not on every route', async (t) => {
  const app = await guardedApp(t)
  const ran: string[] = []
  const onRequest = async () => void ran.push('onRequest')
  app.options('/root', { onRequest }, async () => 'never')
  await app.register(async (child) => {
    await child.register(cors, { origin: false })
    child.options('/x', { onRequest }, async () => 'never')
  })
  for (const url of ['/x', '/root']) {
    assertRefused(await app.inject({ ...PREFLIGHT, url }), 'ERR_AUTH_TOKEN_MISSING')
  }
  assert.deepEqual(ran, [])
})

test('cors may answer on preParsing where another plugin has renamed its hooks', async (t) => {
  const rename = (app: FastifyInstance) => {
    app.addHook = new Proxy(app.addHook, {
      apply(target, scope, [kind, hook]: [string, () => unknown]) {
        Object.defineProperty(hook, 'name', { value: 'wrapped' })
        return Reflect.apply(target, scope, [kind, hook])
      },
    })
  }
  const { app, ran } = await withCors(t, rename, { hook: 'preParsing' })
  assert.equal((await app.inject(PREFLIGHT)).statusCode, 204)
  assert.deepEqual(ran, ['onRequest'])
})
