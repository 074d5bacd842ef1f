import assert from 'node:assert/strict'
import { test } from 'node:test'
import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { AuthService, publicScope } from '../../lib/index.ts'
import { createTestAuthority } from '../../lib/testing.ts'
import { documentedApp, documentOf, type Operation } from '../helpers/documents/documented.ts'

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

test('Every form of a path is found in the document, except hidden routes', async () => {
  const app = await documentedApp(write)
  const operations = operationsOf(app)
  assert.equal(operations.length, PATHS.length + 3)
  assertDescribed(operations)
  await app.close()
})

for (const stripBasePath of [true, false]) {
  test(`Every path is found if base paths are ${stripBasePath ? '' : 'not '}stripped`, async () => {
    const servers = [
      { url: 'https://eu.example/{name}', variables: { name: { default: 'api' } } },
      { url: '/v2' },
      { url: 'https://example.org' },
    ]
    const app = await documentedApp(
      (root) => {
        root.get('/health', { config: { noauth: true } }, handler)
        root.register(async (scope) => write(scope), { prefix: '/api/v2' })
      },
      {
        swagger: {
          openapi: { openapi: '3.1.0', info: { title: 'test', version: '1' }, servers },
          stripBasePath,
        },
      },
    )
    const operations = operationsOf(app).filter(([name]) => name !== 'get /health')
    assert.equal(operations.length, PATHS.length + 3)
    assertDescribed(operations)
    await app.close()
  })
}

test('Early routes are described as guarded, with their tenant if the path has one', async () => {
  const app = Fastify()
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'test', version: '1' } },
    transformObject: (given) =>
      'openapiObject' in given ? app.authService.openapi(given.openapiObject) : given.swaggerObject,
  })
  write(app)
  const { options } = await createTestAuthority()
  await app.register(tenantAuth, options)
  await app.ready()
  const operations = operationsOf(app)
  assert.equal(operations.length, PATHS.length + 3)
  assertDescribed(operations)
  await app.close()
})

test('Only what the guard covers is described', async () => {
  const app = Fastify()
  await app.register(swagger, { openapi: { info: { title: 'test', version: '1' } } })
  const { options } = await createTestAuthority()
  const auth = new AuthService({ ...options, uncovered: 'ignore' })
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
  await app.close()
})

test('One of several applications with the same paths may be told apart', async () => {
  const { options } = await createTestAuthority()
  const auth = new AuthService(options)
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

test('A document that is written before ready is described too', async () => {
  const { options } = await createTestAuthority()
  const app = Fastify()
  let paths = {}
  app.addHook('onReady', async () => {
    const get = { responses: {} }
    paths = app.authService.openapi({ paths: { '/open': { get }, '/closed': { get } } }).paths
  })
  await app.register(tenantAuth, options)
  app.get('/open', { config: { noauth: true } }, handler)
  app.get('/closed', handler)
  await app.ready()
  assert.deepEqual(
    Object.entries(paths).map(([path, item]) => [path, Object(item).get.security]),
    [
      ['/open', []],
      ['/closed', [{ bearerAuth: [] }]],
    ],
  )
  await app.close()
})

test('An unfinished document is described as far as it goes', async () => {
  const app = await documentedApp(write)
  const servers = [{ url: 'relative' }, { url: '/' }]
  assert.deepEqual(Object(app.authService.openapi({ servers })).paths, {})
  const { paths } = app.authService.openapi({ servers, paths: { '/menus': { get: {} } } })
  assert.deepEqual(Object.keys(Object(paths['/menus'].get).responses), ['401', '503'])
  await app.close()
})
