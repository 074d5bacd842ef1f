import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import Fastify, {
  type FastifyInstance,
  type FastifyRequest,
  type FastifyServerOptions,
  type RouteOptions,
} from 'fastify'

// What the plugin relies on of Fastify beyond its documentation: one fact a test, and above it the
// file that relies on it. No file of lib/ is loaded here. So if a new Fastify breaks one of these
// tests, Fastify has changed, and the comment says where to look.

function made(t: TestContext, options: FastifyServerOptions = {}): FastifyInstance {
  const app = Fastify(options)
  t.after(() => app.close())
  return app
}

const handler = async () => 'served'

/** A route without a HEAD route beside it. */
const alone = { exposeHeadRoute: false }

interface AddedRoute {
  readonly scope: FastifyInstance
  readonly options: RouteOptions
}

/** The routes that `onRoute` receives from now on. */
function addedRoutes(app: FastifyInstance): AddedRoute[] {
  const added: AddedRoute[] = []
  app.addHook('onRoute', function (options) {
    added.push({ scope: this, options })
  })
  return added
}

/** `request.routeOptions` of a request for each path. */
async function routeOptionsAt(
  app: FastifyInstance,
  ...paths: string[]
): Promise<FastifyRequest['routeOptions'][]> {
  const found: FastifyRequest['routeOptions'][] = []
  app.addHook('onRequest', async (request) => void found.push(request.routeOptions))
  for (const path of paths) await app.inject(path)
  return found
}

/** A hook that notes its name when it runs. */
function noting(ran: string[]) {
  return (name: string) => async () => void ran.push(name)
}

// lib/guard/error-response.ts: an error handler of the application cannot forget the challenge.
test('onError runs before the error handler, whose answer has the headers set there', async (t) => {
  const app = made(t)
  const ran: string[] = []
  app.addHook('onRequest', async () => Promise.reject(new Error('refused')))
  app.addHook('onError', async (_request, reply) => {
    ran.push('onError')
    reply.header('www-authenticate', 'Bearer')
  })
  app.setErrorHandler((_error, _request, reply) => {
    ran.push('error handler')
    reply.code(401).send('no')
  })
  app.get('/', handler)
  const { headers } = await app.inject('/')
  assert.deepEqual([...ran, headers['www-authenticate']], ['onError', 'error handler', 'Bearer'])
})

// lib/routes/route-capture.ts and lib/entrypoints/cli/observe/preload.ts.
test('a channel emits an application before its first route, and it takes hooks then', (t) => {
  const urls: string[] = []
  const listen = (message: unknown): void => {
    const fastify: FastifyInstance = Reflect.get(Object(message), 'fastify')
    fastify.addHook('onRoute', ({ url }) => void urls.push(url))
  }
  subscribe('fastify.initialization', listen)
  t.after(() => unsubscribe('fastify.initialization', listen))
  made(t).get('/', alone, handler)
  assert.deepEqual(urls, ['/'])
})

// lib/routes/route-capture.ts: the scope shows which guard covers a route.
test('an onRoute hook of the application is called as a method of the scope', async (t) => {
  const app = made(t)
  const added = addedRoutes(app)
  const scopes: unknown[] = []
  app.register(async (scope) => {
    scopes.push(scope)
    scope.get('/', alone, handler)
  })
  await app.ready()
  const shown = added.map(({ scope }) => scope === scopes[0])
  assert.deepEqual(shown, [true])
})

// lib/routes/route-capture.ts: a route that two hooks receive is one route.
test('all onRoute hooks are given one object', (t) => {
  const app = made(t)
  const [first, second] = [addedRoutes(app), addedRoutes(app)]
  app.get('/', alone, handler)
  assert.equal(first[0]?.options, second[0]?.options)
})

// lib/routes/route-capture.ts: a place that is taken differs from a free one.
test('the router does not have a route yet while onRoute receives it', (t) => {
  const app = made(t)
  const place = { method: 'GET', url: '/' } as const
  const routed: boolean[] = []
  app.addHook('onRoute', () => void routed.push(app.hasRoute(place)))
  app.get('/', alone, handler)
  assert.deepEqual([...routed, app.hasRoute(place)], [false, true])
})

// lib/routes/route-registry.ts and lib/guard/async-context.ts put hooks of theirs into routes.
test('hooks that are put into the options of a route until ready run, in their order', async (t) => {
  const app = made(t)
  const [added, ran] = [addedRoutes(app), [] as string[]]
  const note = noting(ran)
  app.get('/', { ...alone, onRequest: note('own') }, handler)
  for (const { options } of added) {
    options.onRequest = [note('put before'), ...[options.onRequest ?? []].flat()]
    options.preHandler = note('put last')
  }
  await app.inject('/')
  assert.deepEqual(ran, ['put before', 'own', 'put last'])
})

// lib/guard/guard.ts: early routes are guarded, in scopes too that were there before the guard.
test('a hook of the application runs for earlier routes, before the hooks of routes', async (t) => {
  const app = made(t)
  const ran: string[] = []
  const note = noting(ran)
  await app.register(async (scope) => {
    scope.get('/', { onRequest: note('route') }, handler)
  })
  app.addHook('onRequest', note('application'))
  await app.inject('/')
  assert.deepEqual(ran, ['application', 'route'])
})

// lib/routes/route-capture.ts: a route has a config of its own.
test('a config that onRoute puts into a GET route is not that of its HEAD twin', (t) => {
  const app = made(t)
  const added = addedRoutes(app)
  const config = {}
  app.addHook('onRoute', (options) => {
    if (options.method === 'GET') options.config = { noauth: true }
  })
  app.get('/', { config }, handler)
  assert.deepEqual(
    added.map(({ options }) => [options.method, options.config === config]),
    [
      ['GET', false],
      ['HEAD', true],
    ],
  )
})

// lib/routes/route-capture.ts: the second url has the policy of the first.
test('the root of a prefixed scope has two urls, and onRoute receives the first', async (t) => {
  const app = made(t)
  const added = addedRoutes(app)
  const urls: string[] = []
  app.addHook('onRoute', ({ url }) => void urls.push(url))
  app.register(async (scope) => scope.get('/', alone, handler), { prefix: '/menu' })
  await app.ready()
  assert.deepEqual([...urls, added[0]?.options.url], ['/menu', '/menu/'])
})

// lib/routes/route-registry.ts keeps the policy of a route by its config.
test('one config object serves all requests of a url, and each url has its own', async (t) => {
  const app = made(t)
  app.register(async (scope) => scope.get('/', handler), { prefix: '/menu' })
  const [first, again, slash] = await routeOptionsAt(app, '/menu', '/menu', '/menu/')
  const shown = [first?.config === again?.config, first?.config === slash?.config]
  assert.deepEqual(shown, [true, false])
})

// lib/routes/route-registry.ts: only a request without a route is answered by no policy.
test('only a request without a route has neither a url in its config nor exposeHeadRoute', async (t) => {
  const app = made(t)
  app.get('/', handler)
  const found = await routeOptionsAt(app, '/', '/missing')
  assert.deepEqual(
    found.map(({ config, exposeHeadRoute }) => [config.url, exposeHeadRoute]),
    [
      ['/', true],
      [undefined, undefined],
    ],
  )
})

// lib/routes/fastify-scope.ts.
test('the prototype of a scope is the scope around it, and only scopes have a server', async (t) => {
  const app = made(t)
  const around: unknown[] = []
  await app.register(async (scope) => void around.push(Reflect.getPrototypeOf(scope)))
  const shown = [around[0] === app, 'server' in Object(Reflect.getPrototypeOf(app))]
  assert.deepEqual(shown, [true, false])
})

// lib/guard/request-decorators.ts finds what a scope decorates with a name of the guard's.
test('a scope has a constructor of requests under a symbol, below that of the scope around', async (t) => {
  const app = made(t)
  const requestOf = (scope: object) => {
    const symbols = Object.getOwnPropertySymbols(scope)
    const symbol = symbols.find(({ description }) => description === 'fastify.Request')
    return symbol && Reflect.get(scope, symbol)
  }
  const found: unknown[] = []
  await app.register(async (scope) => {
    scope.decorateRequest('name', null)
    const maker = requestOf(scope)
    found.push(Reflect.getPrototypeOf(maker) === requestOf(app), maker.props)
  })
  assert.deepEqual(found, [true, [{ key: 'name', value: null }]])
})

// lib/guard/request-decorators.ts distinguishes a prototype from a request.
test('a decorated getter stands on a prototype that has a constructor of its own', async (t) => {
  const app = made(t)
  const holders: boolean[] = []
  app.decorateRequest('name', { getter: () => 'value' })
  app.get('/', async (request) => {
    const holder = Object(Reflect.getPrototypeOf(request))
    holders.push(Object.hasOwn(holder, 'name'), Object.hasOwn(holder, 'constructor'))
  })
  await app.inject('/')
  assert.deepEqual(holders, [true, true])
})

// lib/guard/decision-events.ts binds both.
test('a request and its reply hold a log each, which begin as one', async (t) => {
  const app = made(t)
  const found: boolean[] = []
  app.get('/', async (request, reply) => {
    found.push(request.log === reply.log)
    request.log = Object.create(request.log)
    found.push(request.log === reply.log)
  })
  await app.inject('/')
  assert.deepEqual(found, [true, false])
})

// lib/routes/route-registry.ts, for an application that was made before the package was loaded.
test('routes are printed as a tree, with the names of their hooks', async (t) => {
  const app = made(t)
  app.addHook('onRequest', async function named() {})
  app.get('/menu/:dish', alone, handler)
  app.get('/menu/open', alone, handler)
  await app.ready()
  assert.equal(
    app.printRoutes({ method: 'GET', includeMeta: ['onRequest'] }),
    [
      '└── /',
      '    └── menu/',
      '        ├── open (GET)',
      '        │   • (onRequest) ["named()"]',
      '        └── :dish (GET)',
      '            • (onRequest) ["named()"]',
      '',
    ].join('\n'),
  )
})

// lib/routes/route-path.ts.
test('a path with an optional parameter is routed as two, and a lone star below the root', async (t) => {
  const app = made(t)
  app.get('/menu/:dish?', alone, handler)
  app.get('*', alone, handler)
  const urls = ['/menu/:dish', '/menu', '/*', '*']
  const shown = urls.filter((url) => app.hasRoute({ method: 'GET', url }))
  assert.deepEqual(shown, ['/menu/:dish', '/menu', '/*'])
})

// lib/routes/route-path.ts.
test('initialConfig shows how the router reads slashes', (t) => {
  const app = made(t, {
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true },
  })
  const { ignoreTrailingSlash, ignoreDuplicateSlashes } = Object(
    Reflect.get(app.initialConfig, 'routerOptions'),
  )
  assert.deepEqual([ignoreTrailingSlash, ignoreDuplicateSlashes], [true, true])
})

// lib/entrypoints/testing/probe.ts asks the root.
test('a scope is ready before the onReady hooks run', async (t) => {
  const app = made(t)
  const ran: string[] = []
  app.addHook('onReady', noting(ran)('onReady'))
  await app.register(async (scope) => {
    scope.ready(() => void ran.push('scope'))
  })
  await app.ready()
  assert.deepEqual(ran, ['scope', 'onReady'])
})

// lib/entrypoints/testing/probe-answer.ts: no request from outside can be taken for a probe.
test('an injected request can have a class of its own, which no hook loses', async (t) => {
  class Marked extends Readable {}
  const app = made(t)
  const found: boolean[] = []
  app.get('/', async ({ raw }) => {
    found.push(raw instanceof Marked, raw instanceof IncomingMessage)
  })
  await app.inject({ url: '/', Request: Marked })
  assert.deepEqual(found, [true, false])
})

// lib/service.ts: what waits for an answer is ended, so that the server can close.
test('preClose runs before the server has closed, and onClose after', async () => {
  const app = Fastify()
  const found: unknown[] = []
  app.addHook('preClose', async () => void found.push(app.server.listening))
  app.addHook('onClose', async () => void found.push(app.server.listening))
  await app.listen({ host: '127.0.0.1', port: 0 })
  await app.close()
  assert.deepEqual(found, [true, false])
})
