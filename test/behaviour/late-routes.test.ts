import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, {
  type AuthOptions,
  authorizationOf,
  currentAuthorization,
  type RouteDeclaration,
  refusalOf,
  signalOf,
} from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { greeting, refusal, socketTo } from '../helpers/app/sockets.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'

const USER = { acme: ['a:b'], old: ['a:b'], gone: ['a:b'], '*': ['c:d'] }
const LATE = { tenant: 'required', late: true } as const

/** The tenant stands in the body; null: it names none. */
const inBody: AuthOptions = {
  tenants: { ids: ['acme'], suspended: ['old'] },
  resolveTenant: ({ body, query }) => Object(body).project ?? Object(query).project ?? null,
}

const schema = { body: { type: 'object', properties: { n: { type: 'integer' } } } }
const handler = async (request: FastifyRequest) => {
  const { tenant = 'none' } = request
  return { tenant, of: authorizationOf(request)?.tenant, is: signalOf(request).aborted }
}

async function start(t: TestContext, config: RouteDeclaration, options: AuthOptions = {}) {
  const log = logLines()
  const app = await guardedApp(t, { ...inBody, ...options }, { logger: log.logger })
  app.post('/x', { config, schema }, handler)
  return { app, log, ask: asking(app) }
}

/** Posts a body, and gives the outcome, or the tenant that the handler has seen. */
function asking(app: FastifyInstance, url = '/x') {
  return async (payload: object, headers = {}) => {
    const all = { ...(await as(USER, { sub: 'alice' })), ...headers }
    const response = await app.inject({ method: 'POST', url, headers: all, payload })
    return response.statusCode === 200 ? response.json().of : outcome(response)
  }
}

const STRANGER = { authorization: '' }
const by = ({ body }: FastifyRequest) => String(Object(body).id)

/** What a late route declares, a body, and the tenant or the refusal. */
const ASKED: readonly [
  config: RouteDeclaration,
  body: object,
  found: string | null,
  headers?: object,
  options?: AuthOptions,
][] = [
  [LATE, { project: 'acme' }, 'acme'],
  [LATE, {}, '400 ERR_AUTH_TENANT_MISSING'],
  [{ tenant: true, late: true }, {}, '400 ERR_AUTH_TENANT_MISSING'],
  [{ tenant: 'optional', late: true }, {}, null],
  [{ tenant: 'optional', late: true }, { project: 'other' }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  [LATE, { project: ['acme'] }, '400 ERR_AUTH_TENANT_INVALID'],
  [LATE, { project: '' }, '400 ERR_AUTH_TENANT_INVALID'],
  [LATE, { project: 'constructor' }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  [LATE, { project: '__proto__' }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  [LATE, { project: 'other' }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  [LATE, { project: 'gone' }, '404 ERR_AUTH_TENANT_UNKNOWN'],
  [LATE, { project: 'old' }, '403 ERR_AUTH_TENANT_SUSPENDED'],
  [{ ...LATE, suspended: true }, { project: 'old' }, 'old'],
  [{ ...LATE, require: 'a:b' }, { project: 'acme' }, 'acme'],
  [{ ...LATE, require: 'e:f' }, { project: 'acme' }, '403 ERR_AUTH_RESOURCE_MISSING'],
  [{ ...LATE, require: { by, among: ['a:b', 'e:f'] } }, { project: 'acme', id: 'a:b' }, 'acme'],
  [
    { ...LATE, require: { by, among: ['a:b', 'e:f'] } },
    { project: 'acme', id: 'e:f' },
    '403 ERR_AUTH_RESOURCE_MISSING',
  ],
  [{ ...LATE, stepUp: { maxAge: 1 } }, { project: 'acme' }, '401 ERR_AUTH_STEP_UP_REQUIRED'],
  [{ ...LATE, stepUp: { maxAge: 1 } }, { project: 'other' }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  [LATE, { project: 'acme' }, '401 ERR_AUTH_TOKEN_MISSING', STRANGER],
  [LATE, { n: 'no number' }, '401 ERR_AUTH_TOKEN_MISSING', STRANGER],
  [LATE, { n: 'no number', project: 'other' }, '400 FST_ERR_VALIDATION'],
  [{ tenant: true, late: true }, { project: 'other' }, null, {}, { multitenancy: false }],
  [
    { late: true },
    { project: 'other' },
    '403 ERR_AUTH_TENANT_FORBIDDEN',
    {},
    { tenantDefault: true },
  ],
  [LATE, { project: 'default' }, '404 ERR_AUTH_TENANT_UNKNOWN', STRANGER, { devMode: true }],
]

for (const [config, body, found, headers = {}, options = {}] of ASKED) {
  test(`late ${JSON.stringify([config, body, headers, options])} is ${found}`, async (t) => {
    const events = heard(t, 'decision')
    const { ask, app } = await start(t, config, options)
    assert.equal(await ask(body, headers), found)
    const isRefused = /^\d{3} ERR/.test(`${found}`)
    const isValid = found !== '400 FST_ERR_VALIDATION'
    assert.deepEqual(
      events.map(({ outcome, code }) => [outcome, code]),
      isValid ? [[isRefused ? 'refused' : 'admitted', isRefused ? found?.slice(4) : null]] : [],
      'one event, when it is decided, and none where it is not',
    )
    const { admitted, refused } = app.authService.stats().decisions
    const shown = [admitted, Object.keys(refused).length].join()
    assert.deepEqual(shown, isValid ? `${Number(!isRefused)},${Number(isRefused)}` : '0,0')
  })
}

test('what a late route would be without late is decided before the body', async (t) => {
  const { ask } = await start(t, { tenant: 'required' })
  assert.equal(await ask({ n: 'no number', project: 'acme' }), '400 ERR_AUTH_TENANT_MISSING')
})

test('until the gate nothing is known of the request, and its hooks run', async (t) => {
  const log = logLines()
  const app = await guardedApp(
    t,
    { ...inBody, asyncContext: true, logBindings: ['tenant', 'sub'] },
    { logger: log.logger },
  )
  const seen: unknown[] = []
  const look = async (request: FastifyRequest) => {
    assert.throws(() => signalOf(request), { name: 'TypeError', message: /late/ })
    const { tenant, authorization, userInfo } = request
    seen.push(tenant, authorization, userInfo, authorizationOf(request), refusalOf(request))
    seen.push(currentAuthorization())
    request.log.info('looked')
  }
  app.addHook('onRequest', look)
  app.addHook('preParsing', look)
  app.addHook('preValidation', look)
  const config = { ...LATE, authorization: true, userInfo: true } as const
  app.post('/x', { config }, async (request) => {
    request.log.info('handled')
    return { of: currentAuthorization()?.tenant }
  })
  assert.equal(await asking(app)({ project: 'acme' }), 'acme')
  const nothing = [undefined, undefined, undefined, null, null, null]
  assert.deepEqual(seen, [...nothing, ...nothing, ...nothing])
  const shown = log.lines('looked').map(({ sub = null }) => sub)
  assert.deepEqual(shown, [null, null, null])
  const [line] = log.lines('handled')
  assert.deepEqual([line?.['tenant'], line?.['sub']], ['acme', 'alice'])
})

test('the token is proved again at the gate, in time and revocation', async (t) => {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const list = denyList()
  const steps: (() => unknown)[] = []
  const app = await guardedApp(t, { ...inBody, isRevoked: list })
  app.addHook('preValidation', async () => {
    await steps.shift()?.()
  })
  const ran: string[] = []
  app.post('/x', { config: LATE }, async () => {
    ran.push('x')
    return { of: 'handled' }
  })
  const events = heard(t, 'decision')
  const alice = await as(USER, { sub: 'alice' })
  const ask = (headers = alice) => asking(app)({ project: 'acme' }, headers)
  assert.equal(await ask(), 'handled')
  steps.push(
    () => list.add({ sub: 'bob' }),
    () => list.add({ sub: 'alice' }),
  )
  assert.equal(await ask(), 'handled')
  assert.equal(await ask(), '401 ERR_AUTH_TOKEN_INVALID')
  const headers = await as(USER, { sub: 'carol' })
  steps.push(() => t.mock.timers.setTime(Date.now() + 3_600_000))
  assert.equal(await ask(headers), '401 ERR_AUTH_TOKEN_INVALID')
  assert.equal(ran.length, 2)
  assert.deepEqual(
    events.map(({ outcome, sub, cached }) => [outcome, sub !== null, cached]),
    [
      ['admitted', true, false],
      ['admitted', true, true],
      ['refused', false, true],
      ['refused', false, false],
    ],
    'cached is what the first look found',
  )
})

test('an isRevoked that has to be asked is asked at both', async (t) => {
  const answers = [false, true]
  const { ask } = await start(t, LATE, { isRevoked: async () => answers.shift() === true })
  assert.equal(await ask({ project: 'acme' }), '401 ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(answers, [])
})

test('resolveTenant is asked once, at the gate, with the user and the body as hooks left it', async (t) => {
  const asked: unknown[] = []
  const resolveTenant: AuthOptions['resolveTenant'] = async ({ body }, user) => {
    asked.push([user?.sub, body])
    return Object(body).project
  }
  const app = await guardedApp(t, { resolveTenant })
  app.addHook('preValidation', async (request) => {
    Object(request.body).project = 'acme'
  })
  app.post('/x', { config: LATE, schema }, handler)
  assert.equal(await asking(app)({ n: '1', project: 'other' }), 'acme')
  assert.deepEqual(asked, [['alice', { n: 1, project: 'acme' }]])
})

test('a check comes after the decision, once', async (t) => {
  const asked: unknown[] = []
  const checks = {
    own: (_: unknown, { tenant }: { tenant?: unknown }) => Boolean(asked.push(tenant)),
  }
  const { ask } = await start(t, { ...LATE, check: 'own' }, { checks })
  assert.equal(await ask({ project: 'other' }), '403 ERR_AUTH_TENANT_FORBIDDEN')
  assert.deepEqual(asked, [])
  assert.equal(await ask({ project: 'acme' }), 'acme')
  assert.deepEqual(asked, ['acme'])
})

test('HEAD twins, early routes and WebSockets are late as well', async (t) => {
  const app = bareApp(t)
  const ran: string[] = []
  const run = async (request: FastifyRequest) => {
    ran.push(`${request.method} ${authorizationOf(request)?.tenant}`)
    return 'x'
  }
  app.get('/early', { config: LATE }, run)
  await app.register(tenantAuth, trusting(inBody))
  const undecided: (string | undefined)[] = []
  app.addHook('preValidation', async (request) => {
    if (authorizationOf(request) === null) undecided.push(request.url)
  })
  await app.register(websocket)
  app.get('/x', { config: LATE }, run)
  app.get('/ws', { config: LATE, websocket: true }, (socket, { tenant }) => socket.send(tenant))
  await app.listen()
  const headers = await as(USER)
  for (const method of ['GET', 'HEAD'] as const) {
    for (const path of ['/x', '/early']) {
      const status = async (url: string, more = headers) =>
        (await app.inject({ method, url, headers: more })).statusCode
      assert.equal(await status(`${path}?project=acme`), 200)
      assert.equal(await status(`${path}?project=other`), 403)
      assert.equal(await status(path), 400)
      assert.equal(await status(`${path}?project=acme`, { authorization: '' }), 401)
    }
  }
  assert.deepEqual([...new Set(ran)], ['GET acme', 'HEAD acme'])
  assert.equal(undecided.length, 12)
  assert.equal(await greeting(socketTo(app, '/ws?project=acme', { headers })), 'acme')
  assert.equal((await refusal(socketTo(app, '/ws?project=other', { headers }))).statusCode, 403)
  assert.equal((await refusal(socketTo(app, '/ws?project=acme'))).statusCode, 401)
})

test('a hook that answers early answers an undecided request, without an event', async (t) => {
  const events = heard(t, 'decision')
  const app = await guardedApp(t, inBody)
  app.addHook('preValidation', async (_request, reply) => reply.code(418).send({}))
  app.post('/x', { config: LATE }, async () => assert.fail('a handler has run'))
  assert.equal(await asking(app)({ project: 'acme' }), '418')
  assert.deepEqual(events, [])
})

test('a request that goes on to the not-found handler is decided for no handler', async (t) => {
  const app = await guardedApp(t, { ...inBody, asyncContext: true })
  app.setNotFoundHandler((request, reply) => {
    const { tenant } = request
    reply
      .code(404)
      .send({ code: `${tenant} ${authorizationOf(request)} ${currentAuthorization()}` })
  })
  app.addHook('preValidation', async (_request, reply) => {
    reply.callNotFound()
    return reply
  })
  app.post('/x', { config: LATE }, async () => assert.fail('a handler has run'))
  assert.equal(await asking(app)({ project: 'acme' }), '404 undefined null null')
})

/** Declarations that no boot takes, and what an early route of them is, decided before the body. */
const MISTAKES: readonly [
  url: string,
  config: RouteDeclaration,
  said: string,
  early: string | null,
  options?: AuthOptions,
][] = [
  [
    '/x',
    { tenant: true, late: true },
    'late is declared, and resolveTenant is not given',
    '400 ERR_AUTH_TENANT_MISSING',
    {},
  ],
  ['/x', { late: true }, 'late is declared without a tenant', null],
  [
    '/x',
    { late: true, tenant: false },
    'late is declared without a tenant',
    null,
    { ...inBody, tenantDefault: true },
  ],
  ['/:tenant/x', LATE, 'late is declared on a path with a tenant segment', 'acme'],
  ['/x', { ...LATE, guests: true }, 'guests contradicts late', null],
  ['/x', { noauth: true, late: true }, 'noauth contradicts late', null],
]

for (const [url, config, said, found, options = inBody] of MISTAKES) {
  test(`${url} with ${JSON.stringify(config)} stops the boot: ${said}`, async (t) => {
    const app = await guardedApp(t, options)
    app.post(url, { config }, handler)
    const refusal = { code: 'ERR_AUTH_ROUTE_INVALID', message: new RegExp(said) }
    await assert.rejects(async () => app.ready(), refusal)
    const early = bareApp(t)
    early.post(url, { config }, handler)
    await early.register(tenantAuth, trusting(options))
    const path = url.replace(':tenant', 'acme')
    const stranger = await early.inject({ method: 'POST', url: path, payload: {} })
    assert.equal(stranger.statusCode, 401)
    if (found !== null) assert.equal(await asking(early, path)({}), found)
  })
}

test('late is a slip in other spellings only, and no word of others is taken for it', async (t) => {
  for (const key of ['Late', 'LATE', 'la_te']) {
    const app = await guardedApp(t, inBody)
    const config: object = { tenant: true, [key]: true }
    app.post('/x', { config }, handler)
    await assert.rejects(async () => app.ready(), { message: `POST /x: ${key} looks like late` })
  }
  const app = await guardedApp(t)
  const config: object = { rate: 1, date: 'x', lat: 1, plate: 1, later: 1 }
  app.post('/x', { config }, handler)
  await app.ready()
})

test('routes() says late where it is declared', async (t) => {
  const app = await guardedApp(t, inBody)
  app.post('/a', { config: LATE }, handler)
  app.post('/b', { config: { ...LATE, late: false } }, handler)
  await app.ready()
  assert.deepEqual(
    app.authService.routes().map(({ url, tenant, late }) => [url, tenant, late]),
    [
      ['/a', 'query', true],
      ['/b', 'query', undefined],
    ],
  )
})

test('the signal of a late request that was refused is aborted, at either hook', async (t) => {
  const { app, ask } = await start(t, LATE)
  const seen: boolean[] = []
  app.addHook('onError', async (request) => void seen.push(signalOf(request).aborted))
  assert.equal(await ask({ project: 'acme' }, STRANGER), '401 ERR_AUTH_TOKEN_MISSING')
  assert.equal(await ask({ project: 'other' }), '403 ERR_AUTH_TENANT_FORBIDDEN')
  assert.deepEqual(seen, [true, true])
})
