import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import websocket from '@fastify/websocket'
import { assertGuarded, probe } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, {
  type AuthOptions,
  type Authorization,
  AuthService,
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
import { outcome } from '../helpers/app/refusals.ts'
import { greeting, refusal, socketTo } from '../helpers/app/sockets.ts'

const TENANTS = { ids: ['acme', 'constructor'], suspended: ['old'] }
const MISSING = '400 ERR_AUTH_TENANT_MISSING'
const INVALID = '400 ERR_AUTH_TENANT_INVALID'
const UNKNOWN = '404 ERR_AUTH_TENANT_UNKNOWN'

/** An application whose handlers send what they see. */
async function start(
  t: TestContext,
  routes: Readonly<Record<string, RouteDeclaration>>,
  options: AuthOptions = {},
) {
  const app = await guardedApp(t, { tenants: TENANTS, ...options })
  for (const [url, config] of Object.entries(routes)) {
    app.all(url, { config }, async (request) => {
      const { tenant, userInfo, resources, authorization } = request
      assert.deepEqual([userInfo, resources, authorization, authorizationOf(request)], NOBODY)
      assert.equal(signalOf(request).aborted, false)
      return { tenant: tenant === undefined ? 'none' : tenant }
    })
  }
  const seen = async (url: string, method: 'GET' | 'POST' = 'GET', headers = {}) => {
    const response = await app.inject({ method, url, headers })
    return response.statusCode === 200 ? response.json().tenant : outcome(response)
  }
  return { app, seen }
}

const NOBODY = [undefined, undefined, undefined, null]

/** What a route declares beside `noauth`, an address, and the tenant or the refusal there. */
const FOUND: readonly [
  url: string,
  config: RouteDeclaration,
  asked: string,
  found: unknown,
  options?: AuthOptions,
][] = [
  ['/:tenant/x', { tenant: true }, '/acme/x', 'acme'],
  ['/:tenant/x', { tenant: 'required' }, '/acme/x?tenant=b', 'acme'],
  ['/:tenant/x', { tenant: true }, '/constructor/x', 'constructor'],
  ['/:tenant/x', { tenant: true }, '/toString/x', UNKNOWN],
  ['/:tenant/x', { tenant: true }, '/*/x', INVALID],
  ['/:tenant/x', { tenant: true }, '/a%0Ab/x', INVALID],
  ['/:tenant?', { tenant: true }, '/', MISSING],
  ['/:tenant/x', { tenant: true }, '/old/x', UNKNOWN],
  ['/:tenant/x', { tenant: true, suspended: true }, '/old/x', 'old'],
  ['/:tenant/x', { tenant: true, suspended: true }, '/b/x', UNKNOWN],
  ['/:tenant/x', { tenant: true }, '/old/x', 'old', { suspendedTenants: 'read' }],
  ['/:tenant/x', { tenant: true }, '/b/x', UNKNOWN, { suspendedTenants: 'read' }],
  ['/x', { tenant: true }, '/x?tenant=acme', 'acme'],
  ['/x', { tenant: true }, '/x', MISSING],
  ['/x', { tenant: true }, '/x?tenant=', INVALID],
  ['/x', { tenant: 'required' }, '/x?tenant=acme&tenant=acme', INVALID],
  ['/x', { tenant: 'required' }, '/x?tenant=b', UNKNOWN],
  ['/x', { tenant: 'optional' }, '/x', null],
  ['/x', { tenant: 'optional' }, '/x?tenant=old', UNKNOWN],
  ['/x', { tenant: true }, '/x?org=acme', 'acme', { tenantQuery: 'org' }],
  ['/x', { tenant: true }, '/x?tenant=b', null, { multitenancy: false }],
  ['/x', { tenant: true }, '/x', null, { devMode: true }],
  ['/x', { tenant: true }, '/x?tenant=b', UNKNOWN, { devMode: true }],
  ['/x', { tenant: true }, '/x?tenant=b', 'acme', { resolveTenant: () => 'acme' }],
  ['/x', { tenant: true }, '/x', INVALID, { resolveTenant: () => '' }],
  ['/x', { tenant: true }, '/x', 'acme', { resolveTenant: async (_, user) => `${user ?? 'acme'}` }],
  ['/x', { tenant: false }, '/x?tenant=b', 'none'],
  ['/:tenant/x', { tenant: undefined }, '/b/x', 'none'],
  ['/:tenant/x', {}, '/*/x', 'none'],
]

for (const [url, config, asked, found, options = {}] of FOUND) {
  const [declared, set] = [config, options].map((each) => JSON.stringify(each))
  test(`open ${url} with ${declared} under ${set}: ${asked} is ${found}`, async (t) => {
    const { seen } = await start(t, { [url]: { noauth: true, ...config } }, options)
    assert.equal(await seen(asked), found)
    assert.equal(await seen(asked, 'GET', { authorization: 'Bearer nonsense' }), found, 'no token')
    assert.equal(await seen(asked, 'GET', await as({ b: [] })), found, 'nor a good one')
  })
}

test('with suspendedTenants read only reads of a suspended tenant go on', async (t) => {
  const routes = { '/:tenant/x': { noauth: true, tenant: true } }
  const { seen } = await start(t, routes, { suspendedTenants: 'read' })
  assert.equal(await seen('/old/x', 'POST'), UNKNOWN)
  assert.equal(await seen('/old/x', 'GET', { upgrade: 'websocket' }), UNKNOWN)
})

test('an open route that cannot ask for its tenant is 503', async (t) => {
  const fail = () => Promise.reject(new Error('down'))
  const routes = { '/x': { noauth: true, tenant: true } } as const
  for (const options of [{ tenants: fail }, { resolveTenant: fail }]) {
    const { seen } = await start(t, routes, options)
    assert.equal(await seen('/x?tenant=acme'), '503 ERR_AUTH_TENANTS_UNAVAILABLE')
  }
})

type Check = NonNullable<AuthOptions['checks']>[string]

/** A check of an open route: a signature over the body, by the tenant's own secret. */
const SIGNED: AuthOptions['checks'] = {
  signature: async (authorization, { tenant, headers, body }) => {
    assert.equal(authorization, null)
    assert.equal(currentAuthorization(), null)
    return headers['x-signature'] === `${tenant}:${JSON.stringify(body)}`
  },
}

test('a check of an open route sees tenant and body, and no user', async (t) => {
  const { app } = await start(
    t,
    {
      '/:tenant/hook': { noauth: true, tenant: 'required', check: 'signature' },
      '/hook': { noauth: true, check: ['signature'] },
      '/:tenant/other': { noauth: true, check: 'signature' },
    },
    { checks: SIGNED, asyncContext: true },
  )
  const post = async (url: string, signature: string) => {
    const headers = { ...(await as({ acme: ['a:b'] })), 'x-signature': signature }
    return outcome(await app.inject({ method: 'POST', url, headers, payload: { n: 1 } }))
  }
  const REFUSED = '403 ERR_AUTH_NOT_PERMITTED'
  assert.equal(await post('/acme/hook', 'acme:{"n":1}'), '200')
  assert.equal(await post('/acme/hook', 'acme:{"n":2}'), REFUSED)
  assert.equal(await post('/b/hook', 'b:{"n":1}'), UNKNOWN, 'asked only for tenants that exist')
  assert.equal(await post('/hook', 'undefined:{"n":1}'), '200')
  assert.equal(await post('/hook', ''), REFUSED)
  assert.equal(await post('/acme/other', 'undefined:{"n":1}'), '200')
  assert.equal(
    await post('/b/other', 'undefined:{"n":1}'),
    UNKNOWN,
    'a segment counts with a check',
  )
})

const HOLDS: readonly [check: (user: Authorization) => unknown, found: string][] = [
  [() => true, '200'],
  [() => false, '403 ERR_AUTH_NOT_PERMITTED'],
  [() => 'yes', '503 ERR_AUTH_CHECK_UNAVAILABLE'],
  [() => Promise.reject(new Error('down')), '503 ERR_AUTH_CHECK_UNAVAILABLE'],
  [
    () => Promise.reject(new errors.ERR_AUTH_TOKEN_INVALID('no signature')),
    '401 ERR_AUTH_TOKEN_INVALID',
  ],
  [({ userInfo }: Authorization) => userInfo.sub === 'a', '503 ERR_AUTH_CHECK_UNAVAILABLE'],
]

for (const [own, found] of HOLDS) {
  test(`a check on an open route is asked once and decides: ${own} is ${found}`, async (t) => {
    let asked = 0
    const check: Check = (...given) => {
      asked += 1
      return Reflect.apply(own, undefined, given)
    }
    const app = bareApp(t)
    const config = { noauth: true, check: 'own' } as const
    app.get('/early', { config }, async () => 'x')
    await app.register(tenantAuth, trusting({ checks: { own: check } }))
    app.get('/x', { config }, async () => 'x')
    for (const method of ['GET', 'HEAD'] as const) {
      for (const url of ['/x', '/early']) {
        const response = await app.inject({ method, url })
        assert.equal(response.statusCode, Number.parseInt(found, 10))
        assert.equal(asked, 1)
        asked = 0
      }
    }
  })
}

test('an open route that is decided has one event, a count and a log line, all without a user', async (t) => {
  const events = heard(t, 'decision')
  const log = logLines()
  const options = { tenants: TENANTS, checks: { own: () => false }, logBindings: ['tenant', 'sub'] }
  const app = await guardedApp(t, options as AuthOptions, { logger: log.logger })
  const refusals: unknown[] = []
  app.addHook('onResponse', async (request) => {
    const { error, authorization, tenant } = refusalOf(request) ?? {}
    refusals.push([error?.code, authorization, tenant])
  })
  const open = { noauth: true } as const
  app.get('/:tenant/x', { config: { ...open, tenant: true } }, async ({ log }) => log.info('ran'))
  app.get('/:tenant/y', { config: { ...open, tenant: true, check: 'own' } }, async () => 'never')
  app.get('/:tenant/z', { config: open }, async () => 'not decided')
  for (const url of ['/acme/x', '/b/x', '/acme/y', '/b/y', '/b/z']) {
    await app.inject({ url, headers: await as({ acme: [] }) })
  }
  assert.deepEqual(
    events.map(({ outcome, code, sub, issuer, tenant, checks, cached }) => [
      outcome,
      code,
      [sub, issuer, cached],
      tenant,
      checks,
    ]),
    [
      ['admitted', null, [null, null, null], 'acme', null],
      ['refused', 'ERR_AUTH_TENANT_UNKNOWN', [null, null, null], 'b', null],
      ['refused', 'ERR_AUTH_NOT_PERMITTED', [null, null, null], 'acme', ['own']],
      ['refused', 'ERR_AUTH_TENANT_UNKNOWN', [null, null, null], 'b', ['own']],
    ],
  )
  assert.deepEqual(refusals, [
    [undefined, undefined, undefined],
    ['ERR_AUTH_TENANT_UNKNOWN', null, 'b'],
    ['ERR_AUTH_NOT_PERMITTED', null, 'acme'],
    ['ERR_AUTH_TENANT_UNKNOWN', null, 'b'],
    [undefined, undefined, undefined],
  ])
  const refused = { ERR_AUTH_TENANT_UNKNOWN: 2, ERR_AUTH_NOT_PERMITTED: 1 }
  assert.deepEqual(app.authService.stats().decisions, { admitted: 1, refused })
  const [ran] = log.lines('ran')
  assert.deepEqual([ran?.['tenant'], ran?.['sub']], ['acme', undefined])
})

test('a request that a check of an open route refuses is not let through', async (t) => {
  const app = await guardedApp(t, { tenants: TENANTS, checks: { hook: () => false } })
  app.setErrorHandler(async (_error, request, reply) => {
    const { tenant = 'none' } = request
    return reply.send({ tenant, aborted: signalOf(request).aborted })
  })
  app.get('/:tenant/x', { config: { noauth: true, tenant: true, check: 'hook' } }, () => 'x')
  assert.deepEqual((await app.inject('/acme/x')).json(), { tenant: 'none', aborted: true })
})

test('a WebSocket on an open route has its tenant and its check', async (t) => {
  const app = bareApp(t)
  const checks = { own: (_: unknown, { query }: { query: unknown }) => Object(query).key === 'k' }
  await app.register(tenantAuth, trusting({ tenants: TENANTS, checks }))
  await app.register(websocket)
  const config = { noauth: true, tenant: 'required', check: 'own' } as const
  app.get('/:tenant/ws', { config, websocket: true }, (socket, { tenant }) => socket.send(tenant))
  await app.listen()
  assert.equal(await greeting(socketTo(app, '/acme/ws?key=k')), 'acme')
  assert.equal((await refusal(socketTo(app, '/acme/ws'))).statusCode, 403)
  assert.equal((await refusal(socketTo(app, '/b/ws?key=k'))).statusCode, 404)
})

/** Declarations that no boot takes, and what it says. An early route of them is guarded. */
const MISTAKES: readonly [url: string, config: object, said: string, AuthOptions?][] = [
  ['/x', { require: 'a:b' }, 'noauth contradicts require'],
  ['/x', { userInfo: true }, 'noauth contradicts userInfo'],
  ['/x', { tenant: true, resources: true }, 'noauth contradicts resources'],
  ['/x', { tenant: true, authorization: true }, 'noauth contradicts authorization'],
  ['/x', { tenant: true, guests: true }, 'noauth contradicts guests'],
  [
    '/x',
    { check: 'own', confirmation: 'require' },
    'noauth contradicts confirmation',
    { confirmation: 'check', publicUrl: 'https://api.test' },
  ],
  ['/x', { check: 'own', stepUp: { maxAge: 1 } }, 'noauth contradicts stepUp'],
  ['/x', { suspended: true }, 'suspended is declared without a tenant'],
  ['/:tenant/x', { suspended: true }, 'suspended is declared without a tenant'],
  ['/:tenant/x', { check: 'own', suspended: true }, 'suspended is declared without a tenant'],
  ['/x', { check: 'other' }, 'check names other, which is not one of checks'],
  ['/x', { check: [] }, 'check is not the name of a check, or a list of names, found []'],
  ['/x', { tenant: 'yes' }, "tenant is not true, 'required' or 'optional', found 'yes'"],
  ['/:tenant/x', { tenant: 'optional' }, "tenant is 'optional' on a path with a tenant segment"],
  [
    '/x',
    { tenant: 'required' },
    "tenant is 'required' without a tenant segment, and multitenancy is off",
    { multitenancy: false },
  ],
  [
    '/:tenantId/x',
    { tenant: true },
    ':tenantId looks like the tenant segment, which is :tenant; rename it, or set tenantParameter',
  ],
]

for (const [url, more, said, options] of MISTAKES) {
  const config = { noauth: true, ...more }
  test(`open ${url} with ${JSON.stringify(more)} stops the boot, and is guarded where it is early`, async (t) => {
    const all = { checks: { own: () => true }, ...options }
    const app = await guardedApp(t, all)
    app.get(url, { config }, async () => 'x')
    await assertRouteInvalid(app, `GET ${url}: ${said}`)
    const early = bareApp(t)
    early.get(url, { config }, async () => 'x')
    await early.register(tenantAuth, trusting(all))
    const path = url.replace(/:\w+/, 'acme')
    assert.equal(outcome(await early.inject(path)), '401 ERR_AUTH_TOKEN_MISSING')
  })
}

test('an early open route has its tenant, read strictly', async (t) => {
  const app = bareApp(t)
  app.get('/x', { config: { noauth: true, tenant: 'optional' } }, async () => 'x')
  app.get('/:tenant/y', { config: { noauth: true, tenant: true } }, async () => 'x')
  await app.register(tenantAuth, trusting({ tenants: TENANTS }))
  assert.equal(outcome(await app.inject('/x')), MISSING)
  assert.equal(outcome(await app.inject('/b/y')), UNKNOWN)
  assert.equal(outcome(await app.inject('/acme/y')), '200')
})

test('an open route that declares a tenant or a check needs a guard', async (t) => {
  for (const more of [{ tenant: true }, { check: 'own' }]) {
    const app = bareApp(t)
    const auth = new AuthService(trusting({ checks: { own: () => true } }))
    await app.register(async (scope) => auth.install(scope))
    app.get('/x', { config: { noauth: true, ...more } as RouteDeclaration }, async () => 'x')
    await assert.rejects(async () => app.ready(), /no guard covers it/)
  }
})

test('routes(), the probe and the document show it', async (t) => {
  const { app } = await start(
    t,
    {
      '/:tenant/hook': { noauth: true, tenant: true, suspended: true, check: 'own' },
      '/page': { noauth: true, tenant: 'optional' },
      '/health': { noauth: true },
      '/:tenant/users': {},
    },
    { checks: { own: () => assert.fail('was asked') } },
  )
  await app.ready()
  const routes = app.authService.routes().filter(({ method }) => method === 'GET')
  const shown = routes.map(({ url, noauth, tenant, suspended, check }) =>
    [url, noauth, tenant, suspended, check?.join()].join(' '),
  )
  assert.deepEqual(shown, [
    '/:tenant/hook true path true own',
    '/page true optional  ',
    '/health true   ',
    '/:tenant/users false path  ',
  ])
  const probed = await probe(app, authority, { tenant: 'acme' })
  for (const { url, stranger, expired, foreigner } of probed) {
    const isAsked = url === '/:tenant/users'
    assert.deepEqual([stranger, expired, foreigner], isAsked ? [401, 401, 403] : [null, null, null])
  }
  await assertGuarded(app, authority, { tenant: 'acme' })
  const get = { responses: { 200: {} } }
  const named = { get: { ...get, security: [{ signature: [] }] } }
  const paths = { '/{tenant}/hook': named, '/page': { get }, '/health': { get } }
  const document = app.authService.openapi({ paths }).paths
  const words = Object.values(document).map((item) => {
    const { security, parameters = [], responses } = Object(item.get)
    const names = parameters.map(({ name, required }: { name: string; required: boolean }) =>
      required ? `${name}!` : name,
    )
    return [JSON.stringify(security), names.join(), Object.keys(responses).join()].join(' ')
  })
  assert.deepEqual(words, [
    '[{"signature":[]}] tenant! 200,400,403,404,503',
    '[] tenant 200,400,404,503',
    '[]  200',
  ])
  assert.match(JSON.stringify(document['/{tenant}/hook']), /Checked by own/)
})
