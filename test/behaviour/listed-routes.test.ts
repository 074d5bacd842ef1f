import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { AuthService, publicScope } from '../../lib/index.ts'
import { wholeRoute } from '../../lib/routes/route-list.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'

const handler = async () => 'x'
const guard = async (app: FastifyInstance) => {
  await app.register(tenantAuth, trusting())
}

const NOTHING = { userInfo: false, resources: false, authorization: false }
const UNKNOWN = { userInfo: null, resources: null, authorization: null }
const SEEN = { noauth: false, tenant: null, require: null, seen: true, ...NOTHING }
const UNSEEN = { noauth: null, tenant: null, require: null, seen: false, ...UNKNOWN }

test('routes() returns the policy of every route', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.get('/plain', handler)
  app.get('/open', { config: { noauth: true } }, handler)
  app.get('/:tenant/undeclared', handler)
  app.get('/open/:tenant', { config: { noauth: true } }, handler)
  app.get('/:tenant/declared', { config: { tenant: 'required', require: 'a:b' } }, handler)
  app.get('/query', { config: { tenant: true, require: ['a:b', 'c:d'] } }, handler)
  app.get('/optional', { config: { tenant: 'optional', require: { any: ['a:b'] } } }, handler)
  app.get('/last', { config: { tenant: 'required' } }, handler)
  const all = { userInfo: true, resources: true, authorization: true }
  app.get('/all', { config: all }, handler)
  await app.ready()
  const get = { method: 'GET', ...SEEN }
  assert.deepEqual(app.authService.routes(), [
    { ...get, url: '/plain' },
    { ...get, url: '/open', noauth: true },
    { ...get, url: '/:tenant/undeclared', tenant: 'path' },
    { ...get, url: '/open/:tenant', noauth: true },
    { ...get, url: '/:tenant/declared', tenant: 'path', require: ['a:b'] },
    { ...get, url: '/query', tenant: 'query', require: ['a:b', 'c:d'] },
    { ...get, url: '/optional', tenant: 'optional', require: { any: ['a:b'] } },
    { ...get, url: '/last', tenant: 'query' },
    { ...get, url: '/all', ...all },
  ])
})

/** What a route without a segment declares, and where its tenant stands by routes(). */
for (const [settings, places] of [
  [{}, { true: 'query', required: 'query', optional: 'optional' }],
  [{ multitenancy: false }, { true: null, optional: null }],
  [{ devMode: true }, { true: 'query', required: 'query', optional: 'optional' }],
] as const) {
  test(`with ${JSON.stringify(settings)} routes() says optional only where it is declared`, async (t) => {
    const app = await guardedApp(t, settings, { exposeHeadRoutes: false })
    for (const declared of Object.keys(places)) {
      const tenant = declared === 'true' || (declared === 'required' ? 'required' : 'optional')
      app.get(`/${declared}`, { config: { tenant } }, handler)
    }
    await app.ready()
    const found = app.authService.routes().map(({ url, tenant }) => [url.slice(1), tenant])
    assert.deepEqual(Object.fromEntries(found), places)
  })
}

test('routes() lists each method, HEAD twins, prefixes, and routes of public scopes', async (t) => {
  const app = await guardedApp(t)
  app.route({ method: ['PUT', 'PATCH'], url: '/x', handler })
  await app.register(async (child) => void child.get('/y', handler), { prefix: '/in' })
  await app.register(publicScope(async (scope: FastifyInstance) => void scope.post('/z', handler)))
  await app.ready()
  const found = app.authService
    .routes()
    .map(({ method, url, noauth }) => `${method} ${url} ${noauth}`)
  assert.deepEqual(found.sort(), [
    'GET /in/y false',
    'HEAD /in/y false',
    'PATCH /x false',
    'POST /z true',
    'PUT /x false',
  ])
})

test("routes() lists a prefixed '/' and its HEAD twins once for each path", async (t) => {
  const app = await guardedApp(t)
  await app.register(async (child) => void child.get('/', handler), { prefix: '/in' })
  await app.ready()
  const found = app.authService.routes().map(({ method, url, seen }) => `${method} ${url} ${seen}`)
  assert.deepEqual(found.sort(), [
    'GET /in true',
    'GET /in/ true',
    'HEAD /in true',
    'HEAD /in/ true',
  ])
})

test('routes() lists early routes in the spelling of the router', async (t) => {
  const app = bareApp(t)
  app.get('/early/:a', { config: { noauth: true } }, handler)
  await guard(app)
  app.post('/late', handler)
  await app.ready()
  assert.deepEqual(app.authService.routes(), [
    { method: 'POST', url: '/late', ...SEEN },
    { method: 'GET', url: '/early/:a', ...UNSEEN },
    { method: 'HEAD', url: '/early/:a', ...UNSEEN },
  ])
})

test('the whole entry of an early route has its policy, in the stricter reading', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.get('/open', { config: { noauth: true }, constraints: { version: '1.0.0' } }, handler)
  app.get('/:tenant/menu', { config: { require: 'a:b', userInfo: true } }, handler)
  app.get('/optional', { config: { tenant: 'optional' } }, handler)
  await guard(app)
  await app.ready()
  const entry = { method: 'GET', ...UNSEEN, ...NOTHING, noauth: false }
  assert.deepEqual(app.authService.routes().map(wholeRoute), [
    { ...entry, url: '/open', noauth: true, constraints: { version: '1.0.0' } },
    { ...entry, url: '/:tenant/menu', tenant: 'path', require: ['a:b'], userInfo: true },
    { ...entry, url: '/optional', tenant: 'query' },
  ])
})

test('routes() lists an early OPTIONS wildcard', async (t) => {
  const app = bareApp(t)
  app.options('/files/*', handler)
  await guard(app)
  await app.ready()
  assert.deepEqual(app.authService.routes(), [{ method: 'OPTIONS', url: '/files/*', ...UNSEEN }])
})

test('routes() before ready lists the seen routes, without a policy', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.get('/:tenant/x', { config: { require: 'a:b' } }, handler)
  assert.deepEqual(app.authService.routes(), [
    { method: 'GET', url: '/:tenant/x', ...UNSEEN, seen: true },
  ])
})

test('a route whose onError a later hook replaces is listed once, as seen', async (t) => {
  const { logger, messages } = logLines()
  const app = await guardedApp(t, {}, { logger, exposeHeadRoutes: false })
  app.addHook('onRoute', (route) => {
    route.onError = async () => {}
  })
  app.get('/x', handler)
  await app.ready()
  assert.deepEqual(app.authService.routes(), [{ method: 'GET', url: '/x', ...SEEN }])
  assert.deepEqual(messages(40), [])
})

test('an onError hook of a route is kept', async (t) => {
  const app = await guardedApp(t)
  let ran = 0
  const onError = async () => void ran++
  app.get('/one', { onError }, handler)
  app.get('/two', { onError: [onError, onError] }, handler)
  await app.inject('/one')
  assert.equal(ran, 1)
  await app.inject('/two')
  assert.equal(ran, 3)
})

test('routes() and openapi() are of one application of a service, or of all', async (t) => {
  const service = new AuthService(trusting())
  const [first, second] = [bareApp(t), bareApp(t)]
  for (const [app, url] of [
    [first, '/one'],
    [second, '/two'],
  ] as const) {
    await service.install(app)
    app.post(url, handler)
    await app.ready()
  }
  const listed = (app?: FastifyInstance) => service.routes(app).map(({ url }) => url)
  const paths = { '/one': { post: {} }, '/two': { post: {} } }
  const described = (app?: FastifyInstance) =>
    Object.entries(service.openapi({ paths }, app).paths).flatMap(([url, { post }]) =>
      'security' in post ? [url] : [],
    )
  for (const urls of [listed, described]) {
    const shown = [urls(), urls(first), urls(second)]
    assert.deepEqual(shown, [['/one', '/two'], ['/one'], ['/two']])
    assert.deepEqual(urls(bareApp(t)), [])
  }
})

test('of two guarded scopes each lists its own routes, the early ones too', async (t) => {
  const service = new AuthService(trusting({ uncovered: 'ignore' }))
  const app = bareApp(t)
  for (const name of ['one', 'two']) {
    await app.register(async (scope) => {
      scope.post(`/early-${name}`, handler)
      await service.install(scope)
      scope.post(`/late-${name}`, handler)
    })
  }
  await app.ready()
  // The application around both has both.
  for (const around of [undefined, app]) {
    const found = service.routes(around).map(({ url }) => url)
    assert.deepEqual(found.sort(), ['/early-one', '/early-two', '/late-one', '/late-two'])
  }
  const { paths } = service.openapi({ paths: { '/late-one': { post: {} } } }, app)
  assert.equal('security' in paths['/late-one'].post, true)
})

test('routes() lists paths that the router keeps in a spelling of its own', async (t) => {
  const app = await guardedApp(
    t,
    {},
    {
      exposeHeadRoutes: false,
      routerOptions: {
        ignoreTrailingSlash: true,
        ignoreDuplicateSlashes: true,
        caseSensitive: false,
      },
    },
  )
  const urls = ['/', '/slash/', '/two//slashes', '/Case/:Id/', '/opt/:id?', '*']
  for (const url of urls) app.get(url, handler)
  await app.ready()
  const listed = app.authService.routes().map(({ method, url }) => `${method} ${url}`)
  assert.deepEqual(
    listed,
    urls.map((url) => `GET ${url}`),
  )
})

test('paths that end in two slashes, where the router ignores the last, are told apart', async (t) => {
  const app = await guardedApp(t, {}, { routerOptions: { ignoreTrailingSlash: true } })
  // A hook may look at the handler before the router has it.
  app.addHook('onRoute', function (route) {
    route.handler.bind(this)
  })
  const open = { config: { noauth: true } }
  app.get('/x', handler)
  app.get('/x//', open, handler)
  app.get('/y//', handler)
  assert.throws(() => app.get('/y//', open, handler), { code: 'FST_ERR_DUPLICATED_ROUTE' })
  app.head('/z//', handler)
  app.get('/z//', open, handler)
  await app.ready()
  const listed = app.authService.routes().filter(({ noauth }) => noauth)
  assert.deepEqual(
    listed.map(({ method, url }) => `${method} ${url}`),
    ['GET /x//', 'HEAD /x//', 'GET /z//'],
  )
  const headers = await as()
  for (const url of ['/x', '/x//', '/y//', '/z//']) {
    assert.equal((await app.inject({ url, headers })).statusCode, 200, url)
  }
})

test('a route that a later hook constrains is listed, and read with these constraints', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.addHook('onRoute', (route) => {
    route.constraints = { version: '2.0.0' }
  })
  app.get('/x', handler)
  await app.ready()
  const listed = app.authService.routes()
  assert.deepEqual(listed, [{ method: 'GET', url: '/x', ...SEEN }])
  assert.deepEqual(listed.map(wholeRoute), [
    { method: 'GET', url: '/x', ...SEEN, constraints: { version: '2.0.0' } },
  ])
})
