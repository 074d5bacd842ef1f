import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify, { type FastifyInstance, type FastifyRequest, type RouteOptions } from 'fastify'
import fp from 'fastify-plugin'

// It is made before the package is loaded, which does not know it.
const madeBefore = Fastify({ exposeHeadRoutes: false })
const { default: tenantAuth } = await import('../../lib/index.ts')
const { assertGuarded } = await import('../../lib/entrypoints/testing/index.ts')
const { as, authority, bareApp, guardedApp, trusting } = await import(
  '../helpers/app/guarded-app.ts'
)
const { assertRouteInvalid } = await import('../helpers/app/config-error.ts')
const { outcome } = await import('../helpers/app/refusals.ts')

const STRANGER = '401 ERR_AUTH_TOKEN_MISSING'
const handler = async () => 'x'

test('an early route stays guarded whatever its handler writes into the live config, where contexts are kept', async (t) => {
  const app = madeBefore
  t.after(() => app.close())
  app.get('/x', async (request: FastifyRequest) => {
    request.routeOptions.config.noauth = true
    return 'x'
  })
  await app.register(tenantAuth, trusting({ asyncContext: true }))
  const headers = await as()
  for (const _ of [1, 2, 3]) {
    assert.equal(outcome(await app.inject('/x')), STRANGER)
    assert.equal(outcome(await app.inject({ url: '/x', headers })), '200')
  }
})

for (const asyncContext of [false, true]) {
  test(`what a handler keeps in the live config closes nothing later, with asyncContext ${asyncContext}`, async (t) => {
    const app = await guardedApp(t, { asyncContext })
    app.get('/x', async (request: FastifyRequest) => {
      request.routeOptions.config.resources = true
      return 'x'
    })
    const request = { url: '/x', headers: await as() }
    for (const _ of [1, 2, 3]) assert.equal(outcome(await app.inject(request)), '200')
  })
}

for (const first of ['/open', '/closed']) {
  test(`routes of one function whose bind makes nothing new are two routes, visited ${first} first`, async (t) => {
    const app = await guardedApp(t)
    const stub = Object.assign(async () => 'x', { bind: () => stub })
    app.get('/closed', { config: { require: 'order:erase' } }, stub)
    app.get('/open', { config: { noauth: true } }, stub)
    await app.inject(first)
    for (const _ of [1, 2]) {
      assert.equal(outcome(await app.inject('/open')), '200')
      assert.equal(outcome(await app.inject('/closed')), STRANGER)
    }
  })
}

test('a handler whose own bind is fixed is guarded like any other', async (t) => {
  const app = await guardedApp(t)
  const fixed = Object.freeze(Object.assign(async () => 'x', { bind: () => async () => 'bound' }))
  app.get('/x', fixed)
  assert.equal(outcome(await app.inject('/x')), STRANGER)
  assert.equal((await app.inject({ url: '/x', headers: await as() })).body, 'bound')
})

test('a HEAD route beside the twin of a GET route with an optional parameter is no error', async (t) => {
  const app = await guardedApp(t)
  app.head('/a', { config: { require: 'order:erase' } }, async () => '')
  app.get('/a/:b?', { config: { noauth: true } }, async () => 'x')
  await app.ready()
  assert.equal((await app.inject({ method: 'HEAD', url: '/a/1' })).statusCode, 200)
  assert.equal((await app.inject({ method: 'HEAD', url: '/a' })).statusCode, 401)
  const found = app.authService.routes().map(({ method, url, noauth }) => [method, url, noauth])
  assert.deepEqual(found, [
    ['HEAD', '/a', false],
    ['GET', '/a/:b?', true],
    ['HEAD', '/a/:b?', true],
  ])
})

test('who binds a handler after Fastify has done so changes no route', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  const written: RouteOptions[] = []
  app.addHook('onRoute', (route) => void written.push(route))
  app.get('/x', { config: { require: 'menu:read' } }, handler)
  app.get('/open', { config: { noauth: true } }, handler)
  app.addHook('onReady', async () => {
    for (const route of written) route.handler.bind(app)
  })
  await app.ready()
  for (const route of written) route.handler.bind(app)
  assert.deepEqual(
    app.authService.routes().map(({ url, noauth }) => [url, noauth]),
    [
      ['/x', false],
      ['/open', true],
    ],
  )
  assert.equal(outcome(await app.inject('/x')), STRANGER)
  assert.equal(outcome(await app.inject({ url: '/x', headers: await as() })), '200')
  assert.equal(outcome(await app.inject('/open')), '200')
})

test('an uncovered route whose handler is bound later stops the boot all the same', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const written: RouteOptions[] = []
  app.addHook('onRoute', (route) => void written.push(route))
  app.get('/uncovered', handler)
  await app.register(async (scope) => void (await scope.register(tenantAuth, trusting())))
  app.addHook('onReady', async () => {
    for (const route of written) route.handler.bind(app)
  })
  await assert.rejects(async () => app.ready(), /found none on GET \/uncovered/)
})

test('a hook that binds the handler before another one changes the url leaves one route', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.addHook('onRoute', function (route) {
    route.handler = route.handler.bind(this)
  })
  app.addHook('onRoute', (route) => {
    if (route.url === '/a') route.url = '/b'
  })
  app.get('/a', { config: { require: 'order:erase' } }, handler)
  await app.ready()
  const shown = app.authService.routes().map(({ url }) => url)
  assert.deepEqual(shown, ['/b'])
  await assertGuarded(app, authority)
})

test('no hook can define another handler where Fastify takes it', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    Object.defineProperty(route, 'handler', { value: handler })
  })
  assert.throws(() => app.get('/x', handler), TypeError)
})

test('where a hook makes the handler of a route the not-found handler, too, a URL without a route is open', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.addHook('onRoute', function (route) {
    if (route.url === '/') this.setNotFoundHandler(route.handler)
  })
  app.get('/', handler)
  assert.equal((await app.inject('/deep/link')).body, 'x')
  assert.equal(outcome(await app.inject('/')), STRANGER)
  assert.equal(outcome(await app.inject({ url: '/', headers: await as() })), '200')
})

test('an OPTIONS route of the application below @fastify/cors is a route like any other', async (t) => {
  const { default: cors } = await import('@fastify/cors')
  const app = bareApp(t, { exposeHeadRoutes: false })
  await app.register(cors)
  await app.register(async (scope) => void (await scope.register(tenantAuth, trusting())))
  await app.register(async (scope) => void scope.options('/*', handler), { prefix: '/admin' })
  await assert.rejects(async () => app.ready(), /found none on OPTIONS \/admin\/\*/)
})

test("an OPTIONS route of the application beside @fastify/cors is not that plugin's own", async (t) => {
  const { default: cors } = await import('@fastify/cors')
  const host = { constraints: { host: 'a.test' } }
  for (const [prefix, url, options] of [
    ['/public', '/*', {}],
    ['/public', '*', host],
    ['', '/*', host],
  ] as const) {
    const app = bareApp(t, { exposeHeadRoutes: false })
    await app.register(async (scope) => void (await scope.register(tenantAuth, trusting())))
    const withCors = async (scope: FastifyInstance) => {
      await scope.register(cors, { preflight: false })
      scope.options(url, options, handler)
    }
    await app.register(prefix === '' ? fp(withCors) : withCors, { prefix })
    await assert.rejects(async () => app.ready(), /found none on OPTIONS/, `${prefix}${url}`)
  }
})

for (const url of ['/:tenant/copy/:tenant', '/:tenant-:tenant', '/:tenant/:tenant?']) {
  test(`a path with two tenants stops the boot, and is closed if it is early: ${url}`, async (t) => {
    const app = await guardedApp(t)
    app.get(url, handler)
    await assertRouteInvalid(app, /:tenant stands in the path more than once/)
    const early = bareApp(t)
    early.get(url, handler)
    await early.register(tenantAuth, trusting())
    const [path, headers] = [url.replace(/:tenant\??/g, 'acme'), await as({ acme: [] })]
    const response = await early.inject({ url: path, headers })
    assert.equal(outcome(response), '403 ERR_AUTH_RESOURCE_MISSING')
  })
}
