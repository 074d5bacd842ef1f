import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  authorizationOf,
  type RouteDeclaration,
} from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome, type RefusalCode } from '../helpers/app/refusals.ts'
import { greeting, refusal, socketTo } from '../helpers/app/sockets.ts'

const LISTS = { ids: ['acme'], suspended: ['old'] }
const SUPERUSER = 'root:all'

const ROUTES = {
  plain: {},
  serving: { suspended: true },
  guests: { guests: true },
  both: { guests: true, suspended: true },
} as const satisfies Record<string, RouteDeclaration>

type Route = keyof typeof ROUTES

/** Who asks, in the order of the columns below. */
const USERS = [
  ['nobody', () => ({})],
  ['a stranger to the tenant', () => as({ elsewhere: [] })],
  ['a member', (tenant: string) => as({ [tenant]: [] })],
  ['a superuser', () => as({ '*': [SUPERUSER] })],
] as const

const SERVED = 'served'
const NO_TOKEN: RefusalCode = 'ERR_AUTH_TOKEN_MISSING'
const FORBIDDEN: RefusalCode = 'ERR_AUTH_TENANT_FORBIDDEN'
const SUSPENDED: RefusalCode = 'ERR_AUTH_TENANT_SUSPENDED'
const UNKNOWN: RefusalCode = 'ERR_AUTH_TENANT_UNKNOWN'

type Verdict = typeof SERVED | RefusalCode

const ALL_SERVED: readonly Verdict[] = [SERVED, SERVED, SERVED, SERVED]
const MEMBERS_SERVED: readonly Verdict[] = [NO_TOKEN, FORBIDDEN, SERVED, SERVED]
const NOBODY_FINDS: readonly Verdict[] = [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]
const MEMBERS_LEARN: readonly Verdict[] = [NO_TOKEN, FORBIDDEN, UNKNOWN, UNKNOWN]

const AS_ANY = {
  plain: MEMBERS_SERVED,
  serving: MEMBERS_SERVED,
  guests: ALL_SERVED,
  both: ALL_SERVED,
}

/** The verdicts of a tenant that exists, of one that does not, and of a suspended one. */
const VERDICTS: Readonly<Record<string, Record<Route, readonly Verdict[]>>> = {
  known: AS_ANY,
  unknown: {
    plain: MEMBERS_LEARN,
    serving: MEMBERS_LEARN,
    guests: NOBODY_FINDS,
    both: NOBODY_FINDS,
  },
  refused: {
    plain: [NO_TOKEN, FORBIDDEN, SUSPENDED, SERVED],
    serving: MEMBERS_SERVED,
    guests: [UNKNOWN, UNKNOWN, SUSPENDED, SERVED],
    both: ALL_SERVED,
  },
  read: AS_ANY,
}

/** Each method, and whether `read` lets it go on. */
const METHODS = [
  ['GET', true],
  ['HEAD', true],
  ['POST', false],
  ['a WebSocket', false],
] as const

type Method = (typeof METHODS)[number][0]

async function start(t: TestContext, options: AuthOptions = {}): Promise<FastifyInstance> {
  const app = bareApp(t)
  await app.register(websocket)
  await app.register(
    tenantAuth,
    trusting({ tenants: LISTS, superuserResource: SUPERUSER, ...options }),
  )
  for (const [name, config] of Object.entries(ROUTES)) {
    app.get(`/${name}/:tenant`, { config }, async () => 'x')
    app.post(`/${name}/:tenant`, { config }, async () => 'x')
    app.get(`/${name}/:tenant/socket`, { config, websocket: true }, (socket) => socket.send('x'))
  }
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

interface Answer {
  readonly statusCode?: number | undefined
  readonly headers: object
}

type Headers = Record<string, string>

/** The verdict on one request, and what the client sees of a refusal. */
async function ask(
  app: FastifyInstance,
  method: Method,
  url: string,
  headers: Headers,
  expected: Verdict,
): Promise<void> {
  const what = `${method} ${url}: ${expected}`
  if (method === 'a WebSocket') {
    const socket = socketTo(app, `${url}/socket`, { headers })
    if (expected === SERVED) assert.equal(await greeting(socket), 'x', what)
    else assertStatus(await refusal(socket), expected, what)
    return
  }
  const response = await app.inject({ method, url, headers })
  if (expected === SERVED) assert.equal(response.statusCode, 200, what)
  else if (method === 'HEAD') assertStatus(response, expected, what)
  else {
    assert.equal(response.json().code, expected, what)
    assertRefused(response, expected)
  }
}

const STATUSES: Partial<Record<RefusalCode, [status: number, isChallenged: boolean]>> = {
  [NO_TOKEN]: [401, true],
  [FORBIDDEN]: [403, true],
  [SUSPENDED]: [403, false],
  [UNKNOWN]: [404, false],
}

/** For an answer without a body, and for one that is not read. */
function assertStatus(response: Answer, code: RefusalCode, what: string): void {
  const { statusCode, headers } = response
  assert.deepEqual([statusCode, 'www-authenticate' in headers], STATUSES[code], what)
}

for (const suspendedTenants of ['refuse', 'read'] as const) {
  for (const [method, isRead] of METHODS) {
    const verdicts = isRead && suspendedTenants === 'read' ? 'read' : 'refused'
    test(`with ${suspendedTenants}, ${method} to a tenant of each state gets its verdict`, async (t) => {
      const app = await start(t, { suspendedTenants })
      for (const [tenant, state] of [
        ['acme', 'known'],
        ['none', 'unknown'],
        ['old', verdicts],
      ] as const) {
        for (const [route, expected] of Object.entries(VERDICTS[state] ?? {})) {
          for (const [column, [, headersFor]] of USERS.entries()) {
            const headers: Headers = { ...(await headersFor(tenant)) }
            const verdict = expected[column]
            assert.ok(verdict, 'each user has a column')
            await ask(app, method, `/${route}/${tenant}`, headers, verdict)
          }
        }
      }
    })
  }
}

test('to refuse is the default', async (t) => {
  const app = await start(t)
  await ask(app, 'GET', '/plain/old', await as({ old: [] }), SUSPENDED)
})

test('an offer of a WebSocket is not let through by read, and of other protocols is', async (t) => {
  const app = await start(t, { suspendedTenants: 'read' })
  const headers = await as({ old: [] })
  const get = (upgrade: string) =>
    app.inject({ url: '/plain/old', headers: { ...headers, connection: 'upgrade', upgrade } })
  for (const upgrade of ['websocket', 'WebSocket', 'h2c, websocket', 'WEBSOCKET/13']) {
    assertRefused(await get(upgrade), SUSPENDED)
  }
  for (const upgrade of ['h2c', '']) assert.equal((await get(upgrade)).statusCode, 200)
})

test('a stranger sees the same answer for each tenant, whatever its state', async (t) => {
  for (const suspendedTenants of ['refuse', 'read'] as const) {
    const app = await start(t, { suspendedTenants })
    const headers = await as({ elsewhere: [] })
    const seen = ['acme', 'old', 'none'].map(async (tenant) => {
      const response = await app.inject({ url: `/plain/${tenant}`, headers })
      const { date: _date, ...others } = response.headers
      return { status: response.statusCode, headers: others, body: response.body }
    })
    const [known, ...others] = await Promise.all(seen)
    assert.equal(known?.status, 403)
    for (const other of others) assert.deepEqual(other, known)
  }
})

test('the tenant of the query is asked for too, and a request without one is served', async (t) => {
  const app = await guardedApp(t, { tenants: LISTS })
  app.get('/q', { config: { tenant: 'optional' } }, async () => 'x')
  app.get('/s', { config: { tenant: 'optional', suspended: true } }, async () => 'x')
  const headers = await as({ old: [] })
  assertRefused(await app.inject({ url: '/q?tenant=old', headers }), SUSPENDED)
  for (const url of ['/q', '/s', '/s?tenant=old']) {
    assert.equal(outcome(await app.inject({ url, headers })), '200')
  }
})

test('a suspended tenant is refused before require and checks, and served after them', async (t) => {
  const called: unknown[] = []
  const by = () => {
    called.push('by')
    return 'a:b'
  }
  const own: NonNullable<AuthOptions['checks']>[string] = (authorization) => {
    called.push(authorization?.suspended)
    return false
  }
  const app = await guardedApp(t, { tenants: LISTS, checks: { own } })
  const needs: readonly [name: string, config: RouteDeclaration, refused: RefusalCode][] = [
    ['list', { require: 'a:b' }, 'ERR_AUTH_RESOURCE_MISSING'],
    ['by', { require: { by, among: ['a:b'] } }, 'ERR_AUTH_RESOURCE_MISSING'],
    ['check', { check: 'own' }, 'ERR_AUTH_NOT_PERMITTED'],
  ]
  for (const [name, config] of needs) {
    app.get(`/${name}/:tenant`, { config }, async () => 'x')
    app.get(`/serving/${name}/:tenant`, { config: { ...config, suspended: true } }, async () => 'x')
  }
  const headers = await as({ old: [] })
  for (const [name] of needs) {
    assertRefused(await app.inject({ url: `/${name}/old`, headers }), SUSPENDED)
  }
  assert.deepEqual(called, [])
  for (const [name, , code] of needs) {
    const response = await app.inject({ url: `/serving/${name}/old`, headers })
    assertRefused(response, code, code === 'ERR_AUTH_RESOURCE_MISSING' ? 'a:b' : undefined)
  }
  assert.deepEqual(called, ['by', true])
})

for (const tokenCacheSize of [0, 100]) {
  test(`authorization.suspended says so, and in() does not, with a cache of ${tokenCacheSize}`, async (t) => {
    const state: Record<string, boolean | 'suspended'> = { old: 'suspended', acme: true }
    const app = await guardedApp(t, {
      tenants: (tenant) => state[tenant] ?? false,
      tenantsMaxAge: 0,
      tokenCacheSize,
      superuserResource: SUPERUSER,
    })
    app.get('/:tenant', { config: { suspended: true } }, async (request) => {
      const authorization = authorizationOf(request)
      assert.ok(authorization, 'a user asks')
      const { suspended, tenant, resources } = authorization
      const elsewhere = ['old', 'acme'].map((name) => authorization.in(name).suspended)
      return { suspended, tenant, held: [...resources], elsewhere }
    })
    for (const rights of [{ old: ['a:b'], acme: ['a:b'] }, { '*': [SUPERUSER, 'a:b'] }]) {
      const headers = await as(rights)
      const held = rights['*'] ?? ['a:b']
      const at = async (tenant: string, suspended: boolean) =>
        assert.deepEqual((await app.inject({ url: `/${tenant}`, headers })).json(), {
          suspended,
          tenant,
          held,
          elsewhere: [false, false],
        })
      state['old'] = 'suspended'
      await at('old', true)
      await at('acme', false)
      await at('old', true)
      state['old'] = true
      await at('old', false)
    }
  })
}

test('an early route, a HEAD route and a route of a scope refuse a suspended tenant', async (t) => {
  const app = bareApp(t)
  app.get('/early/:tenant', async () => 'x')
  await app.register(tenantAuth, trusting({ tenants: LISTS }))
  app.head('/head/:tenant', async () => 'x')
  await app.register(async (scope) => void scope.get('/scope/:tenant', async () => 'x'))
  const headers = await as({ old: [], acme: [] })
  for (const [method, url] of [
    ['GET', '/early'],
    ['HEAD', '/head'],
    ['GET', '/scope'],
  ] as const) {
    assert.equal((await app.inject({ method, url: `${url}/acme`, headers })).statusCode, 200)
    const response = await app.inject({ method, url: `${url}/old`, headers })
    assertStatus(response, SUSPENDED, url)
  }
})
