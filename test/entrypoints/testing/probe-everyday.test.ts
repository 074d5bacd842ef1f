import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { assertGuarded, type ProbedRoute, probe } from '../../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions, type RouteDeclaration } from '../../../lib/index.ts'
import { authority, bareApp, guardedApp, trusting } from '../../helpers/app/guarded-app.ts'

/** An application without twins of HEAD, whose handlers must not run. */
async function start(
  t: TestContext,
  routes: Readonly<Record<string, RouteDeclaration>>,
  options: AuthOptions = {},
) {
  const app = await guardedApp(t, options, { exposeHeadRoutes: false })
  for (const [url, config] of Object.entries(routes)) {
    app.get(url, { config }, async () => assert.fail('a handler has run'))
  }
  return app
}

/** `/menu: 401 401 - -`: the stranger, the expired one, the foreigner, and who lacks a right. */
const lineOf = ({ url, stranger, expired, foreigner, without }: ProbedRoute): string =>
  `${url}: ${[stranger, expired, foreigner, without].map((status) => status ?? '-').join(' ')}`

test('a route for guests lets the stranger and the foreigner in, and not the expired one', async (t) => {
  const app = await start(t, {
    '/:tenant/menu': { guests: true },
    '/query': { guests: true, tenant: 'required' },
    '/none': { guests: true },
    '/closed/:tenant': {},
  })
  assert.deepEqual((await probe(app, authority)).map(lineOf), [
    '/:tenant/menu: 204 401 204 -',
    '/query: 204 401 204 -',
    '/none: 204 401 - -',
    '/closed/:tenant: 401 401 403 -',
  ])
  await assertGuarded(app, authority)
})

test('assertGuarded fails where a hook keeps guests out', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (headers.authorization === undefined) return reply.code(401).send()
    return undefined
  })
  await app.register(tenantAuth, trusting())
  app.get('/:tenant', { config: { guests: true } }, async () => assert.fail('a handler has run'))
  await assert.rejects(assertGuarded(app, authority), {
    name: 'AssertionError',
    message: /GET +\/:tenant +stranger +204 +401, not from the guard/,
  })
})

const QUERY = { type: 'object', required: ['q'], properties: { q: { type: 'string' } } }

test('assertGuarded passes where the validation refuses a guest whom the guard lets in', async (t) => {
  const app = await guardedApp(t, { resolveTenant: () => null }, { exposeHeadRoutes: false })
  const config = { guests: true }
  const handler = async () => assert.fail('a handler has run')
  app.post('/signup', { config, schema: { body: QUERY } }, handler)
  app.get('/:tenant/search', { config, schema: { querystring: QUERY } }, handler)
  const late = { tenant: 'required', late: true } as const
  app.post('/late', { config: late, schema: { querystring: QUERY } }, handler)
  await assertGuarded(app, authority)
})

test('assertGuarded fails where strangers get as far as the validation of a late route', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const token = await authority.token({ sub: 'service' })
  await app.register(tenantAuth, trusting({ resolveTenant: () => null, tokenFrom: () => token }))
  const config = { tenant: 'required', late: true } as const
  app.get('/docs', { config, schema: { querystring: QUERY } }, async () => 'secret')
  await assert.rejects(assertGuarded(app, authority), /stranger +401 +400, not from the guard/)
})

test('assertGuarded fails where a route that validates lets in whom its policy refuses', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.addHook('onRequest', async (_request, reply) => reply.code(400).send())
  app.get('/:tenant', { schema: { querystring: QUERY } }, async () => '')
  await assertGuarded(app, authority)
  const other = bareApp(t, { exposeHeadRoutes: false })
  other.addHook('onRequest', async (_request, reply) => reply.code(400).send())
  await other.register(tenantAuth, trusting())
  other.get('/:tenant', { schema: { querystring: QUERY } }, async () => '')
  await assert.rejects(assertGuarded(other, authority), /stranger +401 +400, not from the guard/)
})

test('a requirement by the request is probed, whatever the function makes of the probe', async (t) => {
  const among = ['menu:read', 'menu:edit']
  const throws = () => {
    throw new Error('no header')
  }
  const app = await start(t, {
    '/:tenant/one': { require: { by: () => 'menu:read', among } },
    '/:tenant/both': { require: { by: () => among, among } },
    '/:tenant/throws': { require: { by: throws, among } },
  })
  assert.deepEqual((await probe(app, authority)).map(lineOf), [
    '/:tenant/one: 401 401 403 403',
    '/:tenant/both: 401 401 403 403',
    '/:tenant/throws: 401 401 403 403',
  ])
  await assertGuarded(app, authority)
})

test('who lacks a right holds none that implies it', async (t) => {
  const implies = { 'menu:edit': ['menu:read'], 'admin:all': ['menu:edit'] }
  const routes = { '/:tenant/menu': { require: ['admin:all', 'menu:edit', 'menu:read'] } }
  const app = await start(t, routes, { implies })
  assert.deepEqual((await probe(app, authority)).map(lineOf), ['/:tenant/menu: 401 401 403 403'])
  await assertGuarded(app, authority)
})

test('a probe runs no check, not even where the guard lets somebody in', async (t) => {
  // The authorization server of this application grants its users more the second time.
  const seen = new Set<string>()
  const mapClaims = ({ resources }: Record<string, unknown>) => {
    const isFirst = !seen.has(JSON.stringify(resources))
    seen.add(JSON.stringify(resources))
    return { sub: 'a', resources: { ...Object(resources), ...(!isFirst && { probe: [] }) } }
  }
  let count = 0
  const own = () => Boolean(++count)
  const routes = { '/:tenant': { check: 'own' } }
  const app = await start(t, routes, { checks: { own }, mapClaims })
  assert.deepEqual((await probe(app, authority)).map(lineOf), ['/:tenant: 401 401 204 -'])
  assert.equal(count, 0)
})

test('open routes with a tenant or a check are listed, and not asked', async (t) => {
  const asked: string[] = []
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.addHook('onRequest', async ({ url }) => void asked.push(url))
  await app.register(tenantAuth, trusting({ checks: { own: () => true } }))
  app.get('/:tenant/open', { config: { noauth: true, tenant: true } }, async () => 'x')
  app.get('/hook', { config: { noauth: true, check: 'own' } }, async () => 'x')
  const listed = (await probe(app, authority)).map((route) => [lineOf(route), route.noauth])
  assert.deepEqual(listed, [
    ['/:tenant/open: - - - -', true],
    ['/hook: - - - -', true],
  ])
  assert.deepEqual(asked, [])
})

test('a route that wants a login is probed as one whose token says nothing of any', async (t) => {
  const routes: Record<string, RouteDeclaration> = {
    '/:tenant/both': { require: 'menu:read', stepUp: { acr: ['phr', 'phrh'], maxAge: 0 } },
    '/acr': { stepUp: { acr: 'phr' } },
    '/age': { stepUp: { maxAge: 60 } },
    '/none': {},
  }
  const app = await start(t, routes)
  const always = { acr: 'phr', auth_time: Math.floor(Date.now() / 1000) }
  for (const options of [{}, { claims: (user: object) => ({ ...user, ...always }) }]) {
    const probed = await probe(app, authority, options)
    assert.deepEqual(
      probed.map((route) => [lineOf(route), route.stale]),
      [
        ['/:tenant/both: 401 401 403 403', 401],
        ['/acr: 401 401 - -', 401],
        ['/age: 401 401 - -', 401],
        ['/none: 401 401 - -', undefined],
      ],
    )
    await assertGuarded(app, authority, options)
  }
})

const LOGIN = { stepUp: { acr: 'phr' } } as const

const REQUIRED: readonly [string, number | undefined, RouteDeclaration, AuthOptions][] = [
  ['a superuser', 401, { require: 'all:root', ...LOGIN }, { superuserResource: 'all:root' }],
  ['both', 401, { require: ['a:b', 'all:root'], ...LOGIN }, { superuserResource: 'all:root' }],
  ['a right that nobody can hold', undefined, { require: 'a:b', ...LOGIN }, {}],
  ['no right', 401, LOGIN, {}],
]

for (const [required, expected, route, options] of REQUIRED) {
  const isPinned = options.superuserResource === undefined
  test(`a route that wants a login and ${required} is probed by who may have it`, async (t) => {
    const app = bareApp(t, { exposeHeadRoutes: false })
    const issuers = [authority.issuerRules({ tenants: ['acme'] })]
    await app.register(tenantAuth, isPinned ? { issuers } : trusting(options))
    for (const url of ['/none', '/:tenant']) {
      app.get(url, { config: route }, async () => assert.fail('a handler has run'))
    }
    const probed = await probe(app, authority)
    assert.deepEqual(
      probed.map(({ stale }) => stale),
      [expected, 401],
    )
    await assertGuarded(app, authority)
  })
}

test('the others of such a route have a login that is enough', async (t) => {
  const seen = new Set<string>()
  const now = Math.floor(Date.now() / 1000)
  const mapClaims = (claims: Record<string, unknown>) => {
    const { acr, auth_time: time, resources } = claims
    const isFresh = typeof time === 'number' && Math.abs(time - now) < 60
    seen.add(`${Object.keys(Object(resources)).join()}: ${acr} ${isFresh}`)
    return { sub: 'a', ...claims }
  }
  const route: RouteDeclaration = { stepUp: { acr: ['b', 'a'], maxAge: 9 } }
  const app = await start(t, { '/:tenant': route }, { mapClaims })
  await assertGuarded(app, authority, { tenant: 'acme' })
  // The one with the expired token, the stale one, the foreigner, and one without any rights.
  const ofOthers = ['*,acme: b true', '*,acme: undefined false', '*,elsewhere: b true']
  const expected = [...ofOthers, ': undefined false'].sort()
  assert.deepEqual([...seen].sort(), expected)
})

test('a tenant in the query that resolveTenant reads stands in the parameter of tenantQuery', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const resolveTenant: AuthOptions['resolveTenant'] = ({ body, query }) =>
    Object(body).project ?? Object(query).project ?? null
  await app.register(tenantAuth, trusting({ resolveTenant, tenantQuery: 'project' }))
  app.post('/flows', { config: LATE }, async () => assert.fail('a handler has run'))
  app.get('/flows', { config: { tenant: 'required' } }, async () => assert.fail('it has run'))
  const body = (project: string) => ({ project })
  await assertGuarded(app, authority, { body, headers: () => ({}) })
})

const LATE = { tenant: 'required', late: true } as const

/** An application with late routes, of which one validates its body. */
async function startLate(t: TestContext) {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const resolveTenant: AuthOptions['resolveTenant'] = ({ body, headers }) =>
    Object(body).project ?? headers['x-project'] ?? null
  const handler = async () => assert.fail('a handler has run')
  const project = { type: 'string' }
  const schema = { body: { type: 'object', required: ['project'], properties: { project } } }
  app.post('/early', { config: LATE, schema }, handler)
  await app.register(tenantAuth, trusting({ resolveTenant }))
  app.post('/validated', { config: { ...LATE, require: 'a:b' }, schema }, handler)
  app.put('/read', { config: { ...LATE, stepUp: { maxAge: 60 } } }, handler)
  app.get('/headers', { config: LATE }, handler)
  app.post('/now', { config: { require: 'a:b' }, schema }, handler)
  return app
}

const headers = (tenant: string) => ({ 'x-project': tenant })

test('a late route is probed with its body', async (t) => {
  const app = await startLate(t)
  const bodies: string[] = []
  const body = (project: string) => {
    bodies.push(project)
    return { project }
  }
  assert.deepEqual((await probe(app, authority, { body, headers })).map(lineOf), [
    '/validated: 401 401 403 403',
    '/read: 401 401 403 -',
    '/headers: 401 401 403 -',
    '/now: 401 401 - 403',
    '/early: 401 401 403 -',
  ])
  assert.deepEqual([...new Set(bodies)], ['probe'])
  await assertGuarded(app, authority, { body, headers, tenant: 'acme' })
})

test('without a body one that validates it is asked by the stranger and the expired one', async (t) => {
  const app = await startLate(t)
  assert.deepEqual((await probe(app, authority, { headers })).map(lineOf), [
    '/validated: 401 401 - -',
    '/read: 401 401 403 -',
    '/headers: 401 401 403 -',
    '/now: 401 401 - 403',
    '/early: 401 401 - -',
  ])
  await assertGuarded(app, authority, { headers })
})

test('late routes alone need no headers', async (t) => {
  const app = await guardedApp(t, { resolveTenant: ({ body }) => Object(body).project ?? null })
  app.post('/x', { config: LATE }, async () => assert.fail('a handler has run'))
  const body = (project: string) => ({ project })
  await assertGuarded(app, authority, { body })
  await assert.rejects(assertGuarded(app, authority), /POST +\/x +foreigner +403 .* 400 ERR_AUTH/)
})
