import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import cors from '@fastify/cors'
import type { FastifyInstance } from 'fastify'
import tenantAuth from '../../lib/index.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'

const handler = async () => 'x'

/** An application that keeps its log. */
function loggingApp(t: TestContext) {
  const log = logLines()
  return { app: bareApp(t, { logger: log.logger }), ...log }
}

/** An application with a guard in a child scope, and with open routes beside it. */
async function partlyGuarded(app: FastifyInstance, uncovered?: 'warn' | 'refuse' | 'ignore') {
  app.get('/open', { exposeHeadRoute: false }, handler)
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting(uncovered ? { uncovered } : {}))
    child.get('/closed', handler)
  })
  await app.register(async (sibling) => void sibling.post('/beside/:id', handler))
}

const CURES =
  "wrap the module that registers the guard with fastify-plugin, or say that it is meant: uncovered: 'ignore'"

test('with uncovered warn, one warning names the routes that no guard covers, and the cures', async (t) => {
  const { app, messages, lines } = loggingApp(t)
  await partlyGuarded(app, 'warn')
  await app.ready()
  assert.deepEqual(messages(40), [`tenant auth: no guard covers these routes; ${CURES}`])
  const [line] = lines('no guard covers')
  assert.deepEqual(line?.['routes'], ['GET /open', 'POST /beside/:id'])
})

for (const uncovered of [undefined, 'refuse'] as const) {
  test(`with uncovered ${uncovered}, uncovered routes stop the boot`, async (t) => {
    const app = bareApp(t)
    await partlyGuarded(app, uncovered)
    await assert.rejects(async () => app.ready(), {
      code: 'ERR_AUTH_CONFIG_INVALID',
      message: `uncovered: expected a guard on every route, found none on GET /open, POST /beside/:id; ${CURES} (boot)`,
    })
  })
}

test('an uncovered route that says that it is open is meant, and that of @fastify/cors too', async (t) => {
  const { app, messages } = loggingApp(t)
  await app.register(cors)
  app.get('/health', { config: { noauth: true } }, handler)
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting())
    child.get('/closed', handler)
  })
  await app.ready()
  assert.deepEqual(messages(40), [])
})

test('an uncovered route is refused, even if a guarded scope tried to write another in its place', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.get('/x', handler)
  await app.register(async (scope) => {
    await scope.register(tenantAuth, trusting({ uncovered: 'refuse' }))
    assert.throws(() => scope.get('/x', handler), { code: 'FST_ERR_DUPLICATED_ROUTE' })
  })
  await assert.rejects(async () => app.ready(), {
    code: 'ERR_AUTH_CONFIG_INVALID',
    message: /GET \/x/,
  })
})

test('with uncovered ignore, uncovered routes cause no warning', async (t) => {
  const { app, messages } = loggingApp(t)
  await partlyGuarded(app, 'ignore')
  await app.ready()
  assert.deepEqual(messages(40), [])
})

test('where everything is covered, uncovered refuse changes nothing', async (t) => {
  const { logger, messages } = logLines()
  const app = await guardedApp(t, { uncovered: 'refuse' }, { logger })
  app.get('/x', handler)
  await app.register(async (child) => void child.get('/y', { config: { noauth: true } }, handler))
  await app.ready()
  assert.deepEqual(messages(40), [])
})

test('of two guarded scopes, neither complains about the routes of the other', async (t) => {
  const { app, messages } = loggingApp(t)
  for (const url of ['/one', '/two']) {
    await app.register(async (scope) => {
      await scope.register(tenantAuth, trusting({ uncovered: 'refuse' }))
      scope.get(url, handler)
    })
  }
  await app.ready()
  assert.deepEqual(messages(40), [])
})

test('of two guarded scopes, one warning names the routes that neither covers', async (t) => {
  const { app, lines } = loggingApp(t)
  app.post('/open', handler)
  for (const url of ['/one', '/two']) {
    await app.register(async (scope) => {
      await scope.register(tenantAuth, trusting({ uncovered: 'warn' }))
      scope.get(url, handler)
    })
  }
  await app.ready()
  assert.equal(lines('no guard covers').length, 1)
})

test('one warning gives the number of routes written before the plugin, and the cure', async (t) => {
  const { app, messages, lines } = loggingApp(t)
  app.post('/early', handler)
  await app.register(async (child) => void child.get('/child', handler))
  app.register(tenantAuth, trusting())
  app.put('/same-tick', handler)
  await app
  app.get('/late', handler)
  await app.ready()
  const [message, ...more] = messages(40)
  assert.deepEqual(more, [])
  assert.match(String(message), /4 routes were written before .* await app\.register\(…\)/)
  const named = ['POST /early', 'GET /child', 'HEAD /child', 'PUT /same-tick']
  assert.deepEqual(lines('routes were written')[0]?.['routes'], named)
})

test('of many routes written before the plugin the first ten are named, and all are counted', async (t) => {
  const { app, messages, lines } = loggingApp(t)
  for (let at = 1; at <= 11; at++) app.post(`/${at}`, handler)
  await app.register(tenantAuth, trusting())
  await app.ready()
  assert.match(messages(40).join(), /^tenant auth: 11 routes were written before /)
  const named = Array.from({ length: 10 }, (_, at) => `POST /${at + 1}`)
  assert.deepEqual(lines('routes were written')[0]?.['routes'], named)
})

test('of routes written before the plugin, open ones have no other reading, unless they are wrong', async (t) => {
  const { logger, messages, lines } = logLines()
  const early = async (config: object) => {
    const app = bareApp(t, { logger })
    app.get('/early', { config }, handler)
    await app.register(tenantAuth, trusting())
    await app.ready()
  }
  await early({ noauth: true })
  assert.deepEqual(messages(40), [])
  await early({ noauth: true, tenant: 'optional' })
  await early({ noauth: true, require: 'order:read' })
  const named = lines('guarded in the stricter reading').map(({ routes }) => routes)
  assert.deepEqual(named, Array(2).fill(['GET /early', 'HEAD /early']))
})

for (const [what, options] of [
  ['', {}],
  [' with a prefix', { prefix: '/api' }],
] as const) {
  test(`@fastify/cors${what}, which belongs before the plugin, is not called too early`, async (t) => {
    const { app, messages } = loggingApp(t)
    await app.register(
      async (scope) => {
        await scope.register(cors, { origin: true })
        await scope.register(tenantAuth, trusting({ uncovered: 'refuse' }))
        scope.get('/x', handler)
      },
      { ...options },
    )
    await app.ready()
    assert.deepEqual(messages(40), [])
  })
}

const DECLARED: readonly [config: object, keys: string][] = [
  [{ require: 'order:read' }, 'require'],
  [{ tenant: true, userInfo: true }, 'tenant, userInfo'],
  [{ resources: true, authorization: true }, 'resources, authorization'],
  [{ noauth: true, require: [] }, 'require'],
]

/** Declarations that are lost or do not count, and what is said of them. */
const LOST: readonly [config: object, problem: string][] = [
  [{ requires: 'order:read' }, 'requires looks like require'],
  [{ requireAny: ['order:read'] }, 'requireAny looks like require'],
  [Object.create({ require: 'order:read' }), 'require is inherited'],
  [{ requires: 'a:b', noAuth: true }, 'requires looks like require; noAuth looks like noauth'],
  [Object.defineProperty({}, 'require', { value: 'order:read' }), 'require is not enumerable'],
]

const WRAP = 'wrap the module that registers the guard with fastify-plugin'

for (const [config, problem] of LOST) {
  test(`an uncovered route whose ${problem} stops the boot`, async (t) => {
    const app = bareApp(t)
    await partlyGuarded(app, 'ignore')
    app.route({ method: ['PUT', 'POST'], url: '/lost', config, handler })
    await assertRouteInvalid(app, `PUT, POST /lost: ${problem}, and no guard covers it\n${WRAP}`)
  })
}

test('an uncovered route that Fastify refused stops no boot', async (t) => {
  const app = bareApp(t)
  await partlyGuarded(app, 'ignore')
  assert.throws(() => app.get('/open', { config: { require: 'order:read' } }, handler))
  await app.ready()
})

for (const uncovered of ['warn', 'refuse', 'ignore'] as const) {
  for (const [config, keys] of DECLARED) {
    test(`an uncovered route that declares ${keys} stops the boot, with uncovered ${uncovered}`, async (t) => {
      const app = bareApp(t)
      await partlyGuarded(app, uncovered)
      await app.register(async (scope) => void scope.delete('/lost', { config }, handler))
      await assertRouteInvalid(
        app,
        `DELETE /lost: declares ${keys}, and no guard covers it\n${WRAP}`,
      )
    })
  }
}

test('an uncovered route that declares nothing, or that it is open, stops no boot', async (t) => {
  const app = bareApp(t)
  await partlyGuarded(app, 'ignore')
  app.get('/health', { config: { noauth: true, tenant: false, require: undefined } }, handler)
  app.get('/other', { config: { rateLimit: {} } }, handler)
  await app.ready()
})

test('warnings name a route with a line break in its url, and one with a hook named like a guard', async (t) => {
  const { logger, lines } = logLines()
  const app = bareApp(t, { logger, exposeHeadRoutes: false })
  app.get('/a\n├── b', handler)
  app.get('/c', { onRequest: async function tenantAuthGuard() {} }, handler)
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting({ uncovered: 'warn' }))
    child.get('/closed', handler)
  })
  await app.ready()
  assert.deepEqual(lines('no guard covers')[0]?.['routes'], ['GET /a\n├── b', 'GET /c'])
})
