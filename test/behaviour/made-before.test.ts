import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import type { RouteDeclaration } from '../../lib/index.ts'

// The package is loaded after the applications are made, as in many CommonJS applications, and by
// @fastify/autoload. So the package does not know them. For this reason all imports of the package
// stand below.
const lines: string[] = []
const logger = { level: 'warn', stream: { write: (line: string) => void lines.push(line) } }
const applications = Array.from({ length: 12 }, () => Fastify({ logger, exposeHeadRoutes: false }))
const { default: tenantAuth } = await import('../../lib/index.ts')
const { authority, trusting, as } = await import('../helpers/app/guarded-app.ts')
const { assertGuarded, probe } = await import('../../lib/entrypoints/testing/index.ts')
const { assertRouteInvalid } = await import('../helpers/app/config-error.ts')
const { outcome } = await import('../helpers/app/refusals.ts')

const handler = async () => 'x'

function nextApp(t: { after(fn: () => unknown): void }): FastifyInstance {
  const app = applications.pop()
  assert.notEqual(app, undefined, 'one application for each test')
  if (app === undefined) throw new Error('unreachable')
  lines.length = 0
  t.after(() => app.close())
  return app
}

const warnings = (): string[] => lines.map((line) => String(JSON.parse(line).msg))

const SAID =
  /^tenant auth: the application was made before this package was loaded: .*require\('fastify-tenant-auth'\)/

test('an application made before is guarded whole, and one warning says what cannot be listed', async (t) => {
  const app = nextApp(t)
  app.get('/early', { config: { tenant: 'optional' } }, handler)
  // A route that cannot be listed may name the check.
  await app.register(tenantAuth, trusting({ checks: { own: () => true } }))
  app.get('/late', handler)
  await app.ready()
  assert.equal(warnings().length, 1)
  assert.match(warnings()[0] ?? '', SAID)
  const listed = app.authService.routes().map(({ method, url, seen }) => [method, url, seen])
  assert.deepEqual(listed, [['GET', '/late', true]])
  for (const url of ['/early', '/late']) {
    assert.equal(outcome(await app.inject(url)), '401 ERR_AUTH_TOKEN_MISSING')
  }
  const response = await app.inject({ url: '/early', headers: await as() })
  assert.equal(outcome(response), '400 ERR_AUTH_TENANT_MISSING')
})

test('of an application made before, uncovered routes that are not known stop no boot', async (t) => {
  const app = nextApp(t)
  app.get('/open', handler)
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting({ uncovered: 'refuse' }))
    child.get('/late', handler)
  })
  await app.ready()
  assert.match(warnings()[0] ?? '', SAID)
  assert.equal(outcome(await app.inject('/open')), '200')
  assert.equal(outcome(await app.inject('/late')), '401 ERR_AUTH_TOKEN_MISSING')
})

const OUTSIDE: readonly [what: string, config: RouteDeclaration, expected: object][] = [
  [
    'nothing',
    {},
    {
      code: 'ERR_AUTH_CONFIG_INVALID',
      message: /^uncovered: expected a guard on every route, found none on GET \/open; wrap /,
    },
  ],
  [
    'what nothing would hold',
    { require: 'a:b' },
    {
      code: 'ERR_AUTH_ROUTE_INVALID',
      message: /^GET \/open: declares require, and no guard covers it\n/,
    },
  ],
]

for (const [what, config, expected] of OUTSIDE) {
  test(`a later route beside the guard that declares ${what} stops the boot, as it does elsewhere`, async (t) => {
    const app = nextApp(t)
    app.register(async (plugins) => {
      await plugins.register(tenantAuth, trusting())
    })
    app.register(async (routes) => {
      routes.get('/health', { config: { noauth: true } }, handler)
      routes.get('/open', { config }, handler)
    })
    await assert.rejects(async () => app.ready(), expected)
  })
}

test('a later route of a scope that was there before the guard stops the boot, as with fastify-cli', async (t) => {
  const app = nextApp(t)
  app.register(async (whole) => {
    await whole.register(async (plugins) => {
      await plugins.register(tenantAuth, trusting())
    })
    whole.get('/open', handler)
  })
  await assert.rejects(async () => app.ready(), {
    code: 'ERR_AUTH_CONFIG_INVALID',
    message: /found none on GET \/open; /,
  })
})

test('a later route of a guarded scope that was there before is read strictly', async (t) => {
  const app = nextApp(t)
  const scopes: FastifyInstance[] = []
  await app.register(async (scope) => void scopes.push(scope))
  await app.register(tenantAuth, trusting())
  scopes[0]?.get('/x', { config: { tenant: 'optional' } }, handler)
  scopes[0]?.get('/open', { config: { noauth: true } }, handler)
  await app.ready()
  const response = await app.inject({ url: '/x', headers: await as() })
  assert.equal(outcome(response), '400 ERR_AUTH_TENANT_MISSING')
  assert.equal(outcome(await app.inject('/open')), '200')
})

test('a later route of a scope that was there before says who may use it, where that is asked for', async (t) => {
  const app = nextApp(t)
  const scopes: FastifyInstance[] = []
  await app.register(async (scope) => void scopes.push(scope))
  await app.register(tenantAuth, trusting({ undeclared: 'refuse' }))
  scopes[0]?.get('/x', handler)
  await assertRouteInvalid(app, /^GET \/x: declares neither require nor check nor guests/)
})

test('the mistake in a later route of a scope that was there before is logged', async (t) => {
  const app = nextApp(t)
  const scopes: FastifyInstance[] = []
  await app.register(async (scope) => void scopes.push(scope))
  await app.register(tenantAuth, trusting())
  scopes[0]?.get('/x', { config: { require: 'menu' } }, handler)
  await app.ready()
  const [wrong, ...others] = lines.map((line) => JSON.parse(line))
  assert.match(wrong.msg, /^tenant auth: routes that were written before .* are wrong: /)
  assert.match(wrong.routes.join(), /^GET \/x: require /)
  assert.deepEqual([others.length, SAID.test(others[0].msg)], [1, true])
  assert.equal(
    outcome(await app.inject({ url: '/x', headers: await as() })),
    '403 ERR_AUTH_RESOURCE_MISSING',
  )
})

test('routes before a second guard are read strictly, as those before the first one', async (t) => {
  const app = nextApp(t)
  for (const url of ['/one', '/other']) {
    app.register(async (scope) => {
      scope.get(url, handler)
      await scope.register(tenantAuth, trusting())
    })
  }
  await app.ready()
  const headers = await as()
  for (const url of ['/one', '/other']) {
    assert.equal(outcome(await app.inject(url)), '401 ERR_AUTH_TOKEN_MISSING')
    assert.equal(outcome(await app.inject({ url, headers })), '200')
  }
})

test('two guards beside each other cover their own later routes', async (t) => {
  const app = nextApp(t)
  for (const url of ['/one', '/other']) {
    app.register(async (scope) => {
      await scope.register(tenantAuth, trusting())
      scope.get(url, handler)
    })
  }
  await app.ready()
  assert.equal(outcome(await app.inject('/one')), '401 ERR_AUTH_TOKEN_MISSING')
  assert.equal(outcome(await app.inject('/other')), '401 ERR_AUTH_TOKEN_MISSING')
})

test('an early route of a place that a later one has too is read strictly', async (t) => {
  const app = nextApp(t)
  const constraints = { version: '1.0.0' }
  app.get('/x', { config: { tenant: 'optional' }, constraints }, handler)
  await app.register(tenantAuth, trusting())
  app.get('/x', { config: { noauth: true } }, handler)
  const headers = { ...(await as()), 'accept-version': '1.x' }
  assert.equal(outcome(await app.inject({ url: '/x', headers })), '400 ERR_AUTH_TENANT_MISSING')
  assert.equal(outcome(await app.inject('/x')), '200')
})

test('a probe asks for the routes that are known', async (t) => {
  const app = nextApp(t)
  app.get('/:tenant/early', { config: { require: 'a:b' } }, handler)
  await app.register(tenantAuth, trusting())
  app.get('/late', handler)
  const rows = await probe(app, authority)
  const found = rows.map(({ method, url, stranger }) => `${method} ${url} ${stranger}`)
  assert.deepEqual(found, ['GET /late 401'])
  await assertGuarded(app, authority)
})
