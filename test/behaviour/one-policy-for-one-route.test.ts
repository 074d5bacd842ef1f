import assert from 'node:assert/strict'
import { test } from 'node:test'
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import tenantAuth, { AuthService, type RouteDeclaration } from '../../lib/index.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

const STRANGER = '401 ERR_AUTH_TOKEN_MISSING'
const LACKING = '403 ERR_AUTH_RESOURCE_MISSING'
const handler = async () => 'x'

/** Registers the guard after routes that are written early, or before those that are written late. */
async function guardAround(app: FastifyInstance, when: 'early' | 'late', write: () => void) {
  if (when === 'early') write()
  await app.register(tenantAuth, trusting())
  if (when === 'late') write()
}

/**
 * Closed routes beside an open `GET /x`. A hook gives each of them a copy of the open route's
 * config.
 */
const BESIDE: readonly [what: string, route: object, headers: Record<string, string>][] = [
  ['another method of the url', { method: 'POST', url: '/x' }, {}],
  ['another url', { method: 'GET', url: '/y' }, {}],
  [
    'another version of the route',
    { method: 'GET', url: '/x', constraints: { version: '2.0.0' } },
    { 'accept-version': '2.x' },
  ],
  [
    'the route on another host',
    { method: 'GET', url: '/x', constraints: { host: 'admin.test' } },
    { host: 'admin.test' },
  ],
]

for (const [what, route, constrained] of BESIDE) {
  test(`an onRoute hook that spreads an open route's config into ${what} opens nothing`, async (t) => {
    const app = await guardedApp(t)
    let open: object | undefined
    app.addHook('onRoute', (options) => {
      if (open === undefined) open = options.config
      else if (options.method !== 'HEAD') {
        options.config = { ...open, noauth: false, require: ['order:erase'] }
      }
    })
    app.get('/x', { config: { noauth: true }, exposeHeadRoute: false }, handler)
    app.route({ method: 'GET', url: '/', ...route, handler, exposeHeadRoute: false })
    const { method, url } = { method: 'GET', url: '/', ...route } as const
    const ask = async (headers: object) =>
      outcome(await app.inject({ method, url, headers: { ...constrained, ...headers } }))
    assert.equal(await ask({}), STRANGER)
    assert.equal(await ask(await as()), LACKING)
    assert.equal(outcome(await app.inject('/x')), '200')
  })
}

test('configs that share one mark in one place differ by what they declare', async (t) => {
  const app = await guardedApp(t)
  let open: object | undefined
  app.addHook('onRoute', (options) => {
    open ??= options.config
    options.config = { ...open, noauth: options.constraints === undefined }
  })
  app.get('/x', { config: {}, exposeHeadRoute: false }, handler)
  const constraints = { version: '2.0.0' }
  app.get('/x', { config: {}, constraints, exposeHeadRoute: false }, handler)
  const second = { url: '/x', headers: { 'accept-version': '2.x' } }
  assert.equal(outcome(await app.inject('/x')), '200')
  assert.equal(outcome(await app.inject(second)), STRANGER)
})

/**
 * What a hook writes into the live config of a guarded route before the guard sees its first
 * request.
 */
const CHANGES: readonly [what: string, change: object][] = [
  ['noauth', { noauth: true }],
  ['no requirement', { require: undefined }],
  ['no url', { url: undefined, method: undefined }],
  ['the url of an open route', { url: '/open', noauth: true }],
]

for (const when of ['early', 'late'] as const) {
  for (const [what, change] of CHANGES) {
    test(`a hook that writes ${what} into the live config of a route, written ${when}, opens nothing`, async (t) => {
      const app = bareApp(t)
      app.addHook('onRequest', async ({ routeOptions }) => {
        if (routeOptions.url === '/x') Object.assign(routeOptions.config, change)
      })
      const write = () => {
        app.get('/open', { config: { noauth: true } }, handler)
        app.get('/x', { config: { require: 'order:erase' } }, handler)
      }
      await guardAround(app, when, write)
      assert.equal(outcome(await app.inject('/open')), '200')
      for (const _ of [1, 2]) {
        assert.equal(outcome(await app.inject('/x')), STRANGER)
        assert.equal(outcome(await app.inject({ url: '/x', headers: await as() })), LACKING)
      }
    })

    test(`a copy of an open route's live config opens nothing in a route written ${when}, ${what}`, async (t) => {
      const app = bareApp(t)
      let open: object = {}
      app.addHook('onRequest', async ({ routeOptions }) => {
        if (routeOptions.url === '/open') open = routeOptions.config
        else Object.assign(routeOptions.config, open)
      })
      const write = () => {
        app.get('/open', { config: { noauth: true } }, handler)
        app.get('/x', { config: { require: 'order:erase' } }, handler)
      }
      await guardAround(app, when, write)
      assert.equal(outcome(await app.inject('/open')), '200')
      assert.equal(outcome(await app.inject('/x')), STRANGER)
      assert.equal(outcome(await app.inject({ url: '/x', headers: await as() })), LACKING)
      assert.equal(outcome(await app.inject('/open')), '200')
    })
  }
}

test('an early route is not opened by a hook that writes into a shared config for another route', async (t) => {
  const app = bareApp(t)
  const shared: RouteDeclaration = {}
  app.addHook('onRoute', ({ url, config }) => {
    if (config && url === '/open') config.noauth = true
  })
  app.get('/x', { config: shared }, handler)
  app.get('/open', { config: shared }, handler)
  await app.register(tenantAuth, trusting())
  assert.equal(outcome(await app.inject('/open')), '200')
  assert.equal(outcome(await app.inject('/x')), STRANGER)
})

test('both urls of a prefixed route have its policy, and a HEAD twin has its own', async (t) => {
  const app = await guardedApp(t)
  const scope = async (child: FastifyInstance) =>
    void child.get('/', { config: { noauth: true } }, handler)
  await app.register(scope, { prefix: '/in' })
  for (const url of ['/in', '/in/']) {
    assert.equal(outcome(await app.inject(url)), '200')
    assert.equal(outcome(await app.inject({ method: 'HEAD', url })), '200')
  }
})

/** Routes that Fastify refuses to add beside `GET /x`, and what is left of each. */
const REFUSED: readonly [what: string, route: object, left: string[]][] = [
  ['a duplicate', { method: 'GET', url: '/x' }, []],
  ['a route with an unusable hook', { method: 'PUT', url: '/z', onSend: 'x' }, []],
  ['a path that the router cannot have', { method: 'PUT', url: '/*/z' }, []],
]

for (const when of ['early', 'late'] as const) {
  for (const [what, route, left] of REFUSED) {
    test(`${what}, written ${when} with its error swallowed, is not listed or documented, and opens nothing`, async (t) => {
      const app = bareApp(t, { exposeHeadRoutes: false })
      await app.register(swagger, {
        openapi: { openapi: '3.1.0' },
        transformObject: (given) =>
          'openapiObject' in given
            ? app.authService.openapi(given.openapiObject)
            : given.swaggerObject,
      })
      const write = () => {
        app.get('/x', handler)
        const config = { noauth: true }
        assert.throws(() => app.route({ method: 'GET', url: '/', ...route, config, handler }))
      }
      await guardAround(app, when, write)
      await app.ready()
      const listed = app.authService.routes().map(({ method, url }) => `${method} ${url}`)
      assert.deepEqual(listed.sort(), ['GET /x', ...left])
      assert.equal(outcome(await app.inject('/x')), STRANGER)
      const { paths } = JSON.parse(JSON.stringify(app.swagger()))
      assert.deepEqual(paths['/x'].get.security, [{ bearerAuth: [] }])
    })
  }
}

test('a route that was refused and then written again is listed as it was added', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  const onSend: object = { onSend: 'no function' }
  assert.throws(() => app.get('/x', { ...onSend, config: { noauth: true } }, handler))
  app.get('/x', { config: { require: 'order:erase' } }, handler)
  await app.ready()
  const listed = app.authService.routes().map(({ method, url, noauth }) => [method, url, noauth])
  assert.deepEqual(listed, [['GET', '/x', false]])
  assert.equal(outcome(await app.inject('/x')), STRANGER)
})

test('a service of two applications keeps their routes apart', async (t) => {
  const service = new AuthService(trusting())
  const [first, second] = [bareApp(t), bareApp(t)]
  for (const [app, noauth] of [
    [first, true],
    [second, false],
  ] as const) {
    await service.install(app)
    app.get('/x', { config: { noauth } }, handler)
  }
  assert.equal(outcome(await first.inject('/x')), '200')
  assert.equal(outcome(await second.inject('/x')), STRANGER)
})

/** Routes that Fastify adds in part before it refuses them. It cannot serve that part. */
const HALVES: readonly [what: string, route: object, named: string][] = [
  ['some methods', { method: ['PUT', 'GET', 'DELETE'], url: '/x' }, 'PUT, GET, DELETE /x'],
  ['the path without the optional parameter', { method: 'GET', url: '/x/:id?' }, 'GET /x/:id?'],
]

for (const [what, route, named] of HALVES) {
  test(`a route whose place is taken for ${what} stops the boot, with its error swallowed`, async (t) => {
    const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
    app.get('/x', handler)
    assert.throws(() => app.route({ method: 'GET', url: '/', ...route, handler }))
    await assertRouteInvalid(
      app,
      `${named}: Fastify refused a part of it, since another route is there`,
    )
  })
}

/** Two spellings of one place, for a router that ignores slashes. */
for (const [first, second] of [
  ['/foo', '/foo/'],
  ['/a/b', '/a//b'],
] as const) {
  test(`a duplicate of ${first} that is spelled ${second} is not listed`, async (t) => {
    const routerOptions = { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true }
    const app = await guardedApp(t, {}, { exposeHeadRoutes: false, routerOptions })
    app.get(first, handler)
    assert.throws(() => app.get(second, { config: { noauth: true } }, handler))
    await app.ready()
    const found = app.authService.routes().map(({ url }) => url)
    assert.deepEqual(found, [first])
  })
}

/** Changes that an `onRoute` hook of the application makes to a route. */
test('an onRoute hook may change methods, and the requests of each method are decided', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    if (route.method === 'PUT') route.method = ['PUT', 'PATCH']
  })
  const methods: ('POST' | 'DELETE')[] = ['POST']
  app.put('/x', handler)
  app.route({ method: methods, url: '/y', handler })
  methods.push('DELETE')
  const headers = await as()
  for (const [method, url] of [
    ['PUT', '/x'],
    ['PATCH', '/x'],
    ['POST', '/y'],
  ] as const) {
    assert.equal(outcome(await app.inject({ method, url })), STRANGER)
    assert.equal(outcome(await app.inject({ method, url, headers })), '200')
  }
  const listed = app.authService.routes().map(({ method, url }) => `${method} ${url}`)
  assert.deepEqual(listed, ['PUT /x', 'PATCH /x', 'POST /y'])
})

test('an onRoute hook that gives a path a look-alike of the tenant stops the boot', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    route.url = `/orgs/:tenantId${route.url}`
  })
  app.get('/x', { config: { tenant: 'required' } }, handler)
  await assert.rejects(async () => app.ready(), /:tenantId looks like the tenant segment/)
})

test('an onRoute hook that puts the tenant before a path makes the route one of that tenant', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.addHook('onRoute', (route) => {
    route.url = `/:tenant${route.url}`
  })
  app.get('/:tenantId', { config: { tenant: 'required' } }, async ({ tenant }) => tenant)
  const headers = await as()
  assert.equal((await app.inject({ url: '/lazy-raccoon/x', headers })).body, 'lazy-raccoon')
  const [listed] = app.authService.routes()
  assert.deepEqual([listed?.url, listed?.tenant], ['/:tenant/:tenantId', 'path'])
})

for (const when of ['early', 'late'] as const) {
  for (const what of ['what the other declares', 'the options of the other'] as const) {
    test(`of two versions, written ${when}, giving one the live config ${what} opens nothing`, async (t) => {
      const app = bareApp(t)
      let open: object = {}
      app.addHook('onRoute', ({ constraints, config }) => {
        if (constraints?.['version'] === '1.0.0') open = config ?? {}
      })
      app.addHook('onRequest', async ({ routeOptions, headers }) => {
        if (headers['accept-version'] !== '2.x') return
        const change = { noauth: true, require: undefined }
        Object.assign(routeOptions.config, what === 'what the other declares' ? change : open)
      })
      const write = () => {
        const versions = { one: { version: '1.0.0' }, two: { version: '2.0.0' } }
        app.get('/x', { config: { noauth: true }, constraints: versions.one }, handler)
        app.get('/x', { config: { require: 'order:erase' }, constraints: versions.two }, handler)
      }
      await guardAround(app, when, write)
      const second = { url: '/x', headers: { 'accept-version': '2.x' } }
      for (const _ of [1, 2]) assert.equal(outcome(await app.inject(second)), STRANGER)
      const user = { url: '/x', headers: { ...second.headers, ...(await as()) } }
      assert.equal(outcome(await app.inject(user)), LACKING)
      const first = { url: '/x', headers: { 'accept-version': '1.x' } }
      for (const _ of [1, 2]) assert.equal(outcome(await app.inject(first)), '200')
    })
  }
}

test('a config that is not an object declares nothing', async (t) => {
  const app = await guardedApp(t)
  for (const [index, config] of [true, 'x', 7].entries()) {
    app.get(`/${index}`, Object({ config }), handler)
    assert.equal(app.hasRoute({ method: 'GET', url: `/${index}` }), true)
  }
  for (const index of [0, 1, 2]) assert.equal(outcome(await app.inject(`/${index}`)), STRANGER)
})

/** What a hook gives to the routes of one scope, so that both are of the url `/x`. */
const APART: readonly [what: string, change: object, request: object][] = [
  ['a host', { constraints: { host: 'in.test' } }, { url: '/x', headers: { host: 'in.test' } }],
  [
    'a version',
    { constraints: { version: '2.0.0' } },
    { url: '/x', headers: { 'accept-version': '2.x' } },
  ],
  ['another url', { url: '/elsewhere' }, { url: '/elsewhere' }],
]

for (const [what, change, request] of APART) {
  for (const isFirst of [true, false]) {
    test(`a guarded route to which a hook of its scope gives ${what} is listed and held, written ${isFirst ? 'before' : 'after'} an open one of its url`, async (t) => {
      const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
      const open = async (scope: FastifyInstance) =>
        void scope.get('/x', { config: { noauth: true } }, handler)
      const guarded = async (scope: FastifyInstance) => {
        scope.addHook('onRoute', (route) => void Object.assign(route, change))
        scope.get('/x', { config: { require: 'order:erase' } }, handler)
      }
      for (const scope of isFirst ? [guarded, open] : [open, guarded]) await app.register(scope)
      await app.ready()
      const listed = app.authService.routes().map(({ noauth, require }) => [noauth, require])
      assert.deepEqual(listed.sort().reverse(), [
        [true, null],
        [false, ['order:erase']],
      ])
      for (const _ of [1, 2]) assert.equal(outcome(await app.inject(request)), STRANGER)
      const user = { ...request, headers: { ...Object(request).headers, ...(await as()) } }
      assert.equal(outcome(await app.inject(user)), LACKING)
      assert.equal(outcome(await app.inject('/x')), '200')
    })
  }
}

test('a hook that mirrors each route leaves the mirrored one as it was, after the visits of users too', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.addHook('onRoute', function (route) {
    if (route.url !== '/x' || route.constraints === undefined) return
    this.route({ ...route, url: '/mirror', constraints: {}, config: { noauth: true } })
  })
  const constraints = { version: '2.0.0' }
  app.get('/x', { config: { require: 'menu:read' }, constraints }, handler)
  app.get('/x', { config: { noauth: true } }, handler)
  const second = { url: '/x', headers: { 'accept-version': '2.x' } }
  const user = { url: '/x', headers: { ...second.headers, ...(await as()) } }
  for (const _ of [1, 2]) {
    assert.equal(outcome(await app.inject(user)), '200')
    assert.equal(outcome(await app.inject('/mirror')), '200')
    assert.equal(outcome(await app.inject(second)), STRANGER)
  }
})

test('of routes whose config a hook merges into shared defaults, each has what it was written with', async (t) => {
  const app = await guardedApp(t)
  const defaults = {}
  app.addHook('onRoute', (route) => {
    route.config = Object.assign(defaults, { require: undefined, noauth: false }, route.config)
  })
  app.get('/x', { config: { require: 'order:erase' } }, handler)
  app.get('/open', { config: { noauth: true } }, handler)
  assert.equal(outcome(await app.inject('/x')), STRANGER)
  assert.equal(outcome(await app.inject({ url: '/x', headers: await as() })), LACKING)
  assert.equal(outcome(await app.inject('/open')), '200')
})

for (const when of ['early', 'late'] as const) {
  test(`routes that share a config or a list, written ${when}, have what was there when each was written`, async (t) => {
    const app = bareApp(t)
    const list = ['order:erase']
    const shared: RouteDeclaration = { require: list }
    const write = () => {
      app.get('/list', { config: { require: list } }, handler)
      app.get('/any', { config: { require: { any: list } } }, handler)
      app.get('/config', { config: shared }, handler)
      list.splice(0, 1, 'menu:read')
      Object.assign(shared, { require: undefined, noauth: true })
      app.get('/open', { config: shared }, handler)
    }
    await guardAround(app, when, write)
    const headers = await as()
    for (const url of ['/list', '/any', '/config']) {
      assert.equal(outcome(await app.inject(url)), STRANGER)
      assert.equal(outcome(await app.inject({ url, headers })), LACKING)
    }
    assert.equal(outcome(await app.inject('/open')), '200')
  })
}

test('what is written into a live config closes the route for everybody, with one line of the log', async (t) => {
  const lines: string[] = []
  const stream = { write: (line: string) => void lines.push(line) }
  const app = await guardedApp(t, {}, { logger: { level: 'error', stream } })
  app.get('/open', { config: { noauth: true } }, async (request: FastifyRequest) => {
    request.routeOptions.config.noauth = false
    return 'x'
  })
  app.get('/x', handler)
  await app.ready()
  for (const _ of [1, 2]) assert.equal(outcome(await app.inject('/open')), '200')
  const opening = bareApp(t, { logger: { level: 'error', stream } })
  opening.addHook('onRequest', async ({ routeOptions }) => {
    routeOptions.config.noauth = true
  })
  await opening.register(tenantAuth, trusting())
  opening.get('/x', handler)
  const request = { url: '/x', headers: await as() }
  for (const _ of [1, 2]) assert.equal(outcome(await opening.inject(request)), LACKING)
  const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg.includes('declares'))
  assert.deepEqual(
    logged.map(({ method, url, msg }) => [method, url, msg]),
    [
      [
        'GET',
        '/x',
        'tenant auth: a route declares something else than it did at boot; it is closed',
      ],
    ],
  )
})

test('a route in a scope that no hook of ours is in is not taken for the one that it was made of', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  let options: RouteOptions | undefined
  app.addHook('onRoute', (route) => {
    options ??= route
  })
  app.get('/open', { config: { noauth: true } }, handler)
  app.get('/x', { config: { require: 'order:erase' } }, handler)
  await app.register(async (child) => {
    if (options !== undefined) child.route({ ...options, url: '/again', config: {} })
  })
  assert.equal(outcome(await app.inject('/again')), STRANGER)
  assert.equal(outcome(await app.inject('/open')), '200')
})
