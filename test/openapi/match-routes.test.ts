import assert from 'node:assert/strict'
import { test } from 'node:test'
import swagger, { formatParamUrl } from '@fastify/swagger'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { AuthService, publicScope } from '../../lib/index.ts'
import { describeGuard } from '../../lib/openapi/describe.ts'
import {
  type DocumentedRoute,
  documentPath,
  withoutBasePaths,
} from '../../lib/openapi/match-routes.ts'
import { readDeclaration } from '../../lib/routes/declaration.ts'
import { compilePolicy } from '../../lib/routes/policy.ts'
import { bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { PROPERTY_SEED } from '../helpers/arbitraries/property.ts'
import {
  DEFAULT_RULES,
  documentedApp,
  documentOf,
  type Operation,
} from '../helpers/documents/documented.ts'

test('Any url becomes what @fastify/swagger makes of it', () => {
  const part = fc.constantFrom(...':()/*-.?^\\{}_é', '::', 'a', '7', ':tenant', '(^a$)')
  const url = fc.array(part, { maxLength: 12 }).map((parts) => `/${parts.join('')}`)
  fc.assert(fc.property(url, (any) => assert.equal(documentPath(any), formatParamUrl(any))))
})

test('Base paths are taken off one after the other, and only at the beginning', () => {
  assert.equal(withoutBasePaths('/api/v1/menus/api', ['/api', '/v1']), '/menus/api')
  assert.equal(withoutBasePaths('/menus/api', ['/api']), '/menus/api')
})

const handler = async () => 'ok'
const PATHS = [
  '/',
  '/menus',
  '/menus/',
  '/:tenant/menus',
  '/optional/:tenant?',
  '/files/*',
  '/regexp/:tenant(^[a-z]+$)/menus',
  '/two/:from-:to',
  '/two/:hour(^\\d+)h:minute(^\\d+)',
  '/picture/:id.png',
  '/orders::cancel',
]

function write(app: FastifyInstance): void {
  for (const path of PATHS) app.get(path, handler)
  app.route({ method: ['PUT', 'POST'], url: '/several', handler })
  app.register(async (scope) => void scope.get('/', handler), { prefix: '/v1/:tenant' })
  app.get('/hidden', { schema: { hide: true } }, handler)
}

function operationsOf(app: FastifyInstance): [string, Operation][] {
  return Object.entries(documentOf(app).paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation,
    ]),
  )
}

/** Has the bearer scheme, the general refusals, and a tenant exactly if the path has one. */
function assertDescribed(operations: readonly [string, Operation][]): void {
  for (const [name, { security, responses, parameters = [] }] of operations) {
    assert.deepEqual(security, [{ bearerAuth: [] }], name)
    assert.ok(responses['401'] && responses['503'], name)
    const isTenant = name.includes('{tenant}')
    assert.equal('403' in responses, isTenant, name)
    const tenants = parameters.filter((parameter) => parameter.name === 'tenant')
    assert.equal(tenants.length, isTenant ? 1 : 0, name)
  }
}

test('Every form of a path is found in the document, except hidden routes', async (t) => {
  const app = await documentedApp(t, write)
  const operations = operationsOf(app)
  assert.equal(operations.length, PATHS.length + 3)
  assertDescribed(operations)
})

test('Early routes are described as guarded, with their tenant if the path has one', async (t) => {
  const app = bareApp(t)
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'test', version: '1' } },
    transformObject: (given) =>
      'openapiObject' in given ? app.authService.openapi(given.openapiObject) : given.swaggerObject,
  })
  write(app)
  await app.register(tenantAuth, trusting())
  await app.ready()
  const operations = operationsOf(app)
  assert.equal(operations.length, PATHS.length + 3)
  assertDescribed(operations)
})

test('A path that a transform has changed is not found; one that is renamed afterwards is', async (t) => {
  const app = bareApp(t)
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'test', version: '1' } },
    transform: ({ schema, url }) => ({ schema, url: url.replace('/early', '') }),
    transformObject: (given) => {
      if (!('openapiObject' in given)) return given.swaggerObject
      const { paths, ...document } = app.authService.openapi(given.openapiObject)
      const renamed = Object.entries(paths ?? {}).map(([path, item]) => [
        path.replace('/late', ''),
        item,
      ])
      return { ...document, paths: Object.fromEntries(renamed) }
    },
  })
  await app.register(tenantAuth, trusting())
  app.get('/early/menu', handler)
  app.get('/late/orders', handler)
  await app.ready()
  const security = operationsOf(app).map(([name, operation]) => [name, operation.security])
  assert.deepEqual(Object.fromEntries(security), {
    'get /menu': undefined,
    'get /orders': [{ bearerAuth: [] }],
  })
})

test('Only what the guard covers is described', async (t) => {
  const app = bareApp(t)
  await app.register(swagger, { openapi: { info: { title: 'test', version: '1' } } })
  const auth = new AuthService(trusting({ uncovered: 'ignore' }))
  app.get('/open', handler)
  await app.register(async (scope) => {
    await auth.install(scope)
    scope.get('/closed', handler)
    await scope.register(
      publicScope(async (docs: FastifyInstance) => void docs.get('/docs', handler)),
    )
  })
  await app.ready()
  const { paths } = auth.openapi(documentOf(app))
  assert.equal('security' in Object(paths['/open']?.['get']), false)
  assert.deepEqual(paths['/closed']?.['get']?.security, [{ bearerAuth: [] }])
  assert.deepEqual(paths['/docs']?.['get']?.security, [])
})

test('One of several applications with the same paths may be selected', async () => {
  const auth = new AuthService(trusting())
  const apps = [true, false].map(async (noauth) => {
    const app = Fastify()
    await auth.install(app)
    app.get('/menus', { config: { noauth } }, handler)
    await app.ready()
    return app
  })
  const [open, closed] = await Promise.all(apps)
  const securityIn = (app: FastifyInstance | undefined) =>
    Object(auth.openapi({ paths: { '/menus': { get: {} } } }, app).paths['/menus'].get)['security']
  assert.deepEqual(securityIn(open), [])
  assert.deepEqual(securityIn(closed), [{ bearerAuth: [] }])
  await Promise.all([open?.close(), closed?.close()])
})

test('A document that is written before ready is described too', async (t) => {
  const app = bareApp(t)
  let paths = {}
  app.addHook('onReady', async () => {
    const get = { responses: {} }
    const written = { '/open': { get }, '/guests': { get }, '/closed': { get } }
    paths = app.authService.openapi({ paths: written }).paths
  })
  await app.register(tenantAuth, trusting())
  app.get('/open', { config: { noauth: true } }, handler)
  app.get('/guests', { config: { guests: true } }, handler)
  app.get('/closed', handler)
  await app.ready()
  assert.deepEqual(
    Object.entries(paths).map(([path, item]) => [path, Object(item).get.security]),
    [
      ['/open', []],
      ['/guests', [{ bearerAuth: [] }, {}]],
      ['/closed', [{ bearerAuth: [] }]],
    ],
  )
})

test('An unfinished document is described as far as it goes', async (t) => {
  const app = await documentedApp(t, write)
  const servers = [{ url: 'relative' }, { url: '/' }]
  assert.deepEqual(Object(app.authService.openapi({ servers })).paths, {})
  const { paths } = app.authService.openapi({ servers, paths: { '/menus': { get: {} } } })
  assert.deepEqual(Object.keys(Object(paths['/menus'].get).responses), ['401', '503'])
})

const info = { title: 'test', version: '1' }

interface Server {
  readonly url: string
  readonly variables?: Record<string, { readonly default: string }>
}

/** The paths of a real document of these routes, and those whose operation is not described. */
async function documentOfOfFoundPaths(
  urls: readonly string[],
  servers: Server[],
  stripBasePath: boolean,
) {
  const app = Fastify()
  const routes: DocumentedRoute[] = []
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info, servers },
    stripBasePath,
    transformObject: (given) =>
      'openapiObject' in given
        ? describeGuard(given.openapiObject, routes, DEFAULT_RULES)
        : given.swaggerObject,
  })
  app.addHook('onRoute', ({ url, method }) => {
    const { policy } = compilePolicy({ url, ...readDeclaration({}), strict: false }, DEFAULT_RULES)
    routes.push({ methods: [method].flat(), url, policy })
  })
  for (const url of urls) {
    try {
      app.get(url, async () => 'ok')
    } catch {
      // The router refuses some urls. It also refuses urls that differ only in a parameter's name.
    }
  }
  await app.ready()
  const paths = Object.entries(Object(app.swagger()).paths)
  await app.close()
  return {
    paths: paths.map(([path]) => path),
    open: paths.filter(([, item]) => !Array.isArray(Object(item).get.security)),
  }
}

const piece = fc.constantFrom(
  ...['/', '/', '/api', '/v1', 'v1', 'menus', '::', '-', '.', 'é', '_', '%20'],
  ...['/:tenant', '/:id', ':x', ':x(^a$)', '(^(?:a|b)$)', '/:tenant?', '*', '{', '}'],
)
const prefix = fc.constantFrom('', '/api', '/v1', '/api/v1', '/v1/v1')
const url = fc
  .tuple(prefix, fc.array(piece, { maxLength: 4 }))
  .map(([start, pieces]) => [start, ...pieces].join(''))
  .map((text) => (text.startsWith('/') ? text : `/${text}`))
const server = fc.constantFrom<Server>(
  ...[
    '/',
    '/api',
    '/api/',
    '/v1',
    '/:tenant',
    'https://example.org',
    'https://example.org/api',
  ].map((url) => ({ url })),
  { url: 'https://{host}/{base}', variables: { host: { default: 'a' }, base: { default: 'v1' } } },
)

test('Every path of a real document is found, with any servers, base paths stripped or not', async () => {
  const property = fc.asyncProperty(
    fc.array(url, { minLength: 1, maxLength: 6 }),
    fc.array(server, { maxLength: 3 }),
    fc.boolean(),
    async (urls, servers, isStripped) => {
      const { open, paths } = await documentOfOfFoundPaths(urls, servers, isStripped)
      fc.pre(paths.length > 0)
      assert.deepEqual(open, [])
    },
  )
  // Each run boots an application.
  await fc.assert(property, { seed: PROPERTY_SEED, numRuns: 300 })
})

test('a route with an optional parameter counts at the place without it, too', async (t) => {
  const app = await documentedApp(t, (each) => {
    each.get('/docs/:page?', handler)
    each.get('/docs', { constraints: { version: '1.0.0' }, config: { noauth: true } }, handler)
    each.get('/open', { config: { noauth: true } }, handler)
  })
  const security = operationsOf(app).map(([name, operation]) => [name, operation.security])
  const found = Object.fromEntries(security)
  assert.deepEqual([found['get /docs'], found['get /open']], [[{ bearerAuth: [] }], []])
})
