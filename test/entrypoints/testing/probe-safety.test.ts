import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type HTTPMethods } from 'fastify'

// They are made before the package is loaded, which does not know them.
const madeBefore = [Fastify(), Fastify()]
const { default: tenantAuth } = await import('../../../lib/index.ts')
const { assertGuarded, probe } = await import('../../../lib/entrypoints/testing/index.ts')
const { authority, bareApp, guardedApp, trusting } = await import(
  '../../helpers/app/guarded-app.ts'
)

const handler = async () => 'x'

/** Writes a route of the guarded scope, and what the router prefers to it outside of the scope. */
type Write = (guarded: FastifyInstance, outside: FastifyInstance, ran: () => void) => void

const run = (ran: () => void) => async () => {
  ran()
  return 'x'
}

/** How the router may prefer a route that no guard covers to one that is guarded. */
const PREFERRED: readonly [
  what: string,
  method: HTTPMethods,
  guarded: string,
  preferred: string,
  server?: FastifyServerOptions,
  constraints?: object,
][] = [
  ['a static path to a wildcard', 'DELETE', '/files/*', '/files/probe'],
  ['a static path to a parameter', 'DELETE', '/files/:id', '/files/probe'],
  ['a parameter to a wildcard', 'DELETE', '/files/*', '/files/:id'],
  ['an expression to a parameter of the same name', 'DELETE', '/files/:id', '/files/:id(^[a-z]+$)'],
  ['another tenant segment', 'DELETE', '/:tenant/files', '/probe/files'],
  ['a HEAD route to a wildcard', 'HEAD', '/files/*', '/files/probe'],
  ['an OPTIONS route', 'OPTIONS', '/files/*', '/files/probe'],
  [
    'a host that the request has by chance',
    'DELETE',
    '/files',
    '/files',
    {},
    { host: 'localhost:80' },
  ],
  [
    'a path without the slash at its end',
    'DELETE',
    '/files/:id/',
    '/files/probe',
    { routerOptions: { ignoreTrailingSlash: true } },
  ],
  [
    'a path in other letters',
    'DELETE',
    '/Files/:id',
    '/FILES/Probe',
    { routerOptions: { caseSensitive: false } },
  ],
  [
    'another url that the application rewrites it to',
    'DELETE',
    '/files/:id',
    '/rewritten',
    { rewriteUrl: () => '/rewritten' },
  ],
]

const writing =
  (method: HTTPMethods, url: string, preferred: string, constraints = {}): Write =>
  (guarded, outside, ran) => {
    guarded.route({ method, url, handler })
    outside.route({ method, url: preferred, constraints, handler: run(ran) })
  }

/** An application with a guard in one scope, whose handlers and hooks outside of it are counted. */
async function withPreferred(t: TestContext, write: Write, app: FastifyInstance) {
  t.after(() => app.close())
  const counts = { handlers: 0, hooks: 0 }
  app.addHook('onRequest', async (request) => {
    if (!request.url.startsWith('/own')) counts.hooks++
  })
  let guarded: FastifyInstance | undefined
  await app.register(async (scope) => {
    guarded = scope
    await scope.register(tenantAuth, trusting({ uncovered: 'ignore' }))
    scope.get('/own', handler)
  })
  assert.ok(guarded, 'the scope is there')
  write(guarded, app, () => counts.handlers++)
  return { app, counts }
}

/** Neither a probe nor its assertion runs what is written outside of the guard, and both fail. */
async function assertNothingRuns(t: TestContext, write: Write, server: FastifyServerOptions) {
  const { app, counts } = await withPreferred(t, write, Fastify(server))
  for (const ask of [probe, assertGuarded]) {
    await ask(app, authority).then(
      () => {},
      () => {},
    )
  }
  assert.equal(counts.handlers, 0)
  assert.equal(counts.hooks, 0, 'no hook has run outside of the guard either')
  await assert.rejects(assertGuarded(app, authority), Error)
}

for (const [what, method, url, preferred, server = {}, constraints] of PREFERRED) {
  test(`a probe runs no handler where the router prefers ${what}`, async (t) => {
    await assertNothingRuns(t, writing(method, url, preferred, constraints), server)
  })
}

test('a probe runs no not-found handler that the router prefers, since a header is missing', async (t) => {
  const secret = {
    name: 'secret',
    storage: () => ({ get: () => null, set: () => {} }),
    deriveConstraint: () => 'none',
    validate: () => true,
  }
  const write: Write = (guarded, outside, ran) => {
    guarded.delete('/files', { constraints: { secret: 'x' } }, handler)
    outside.setNotFoundHandler(run(ran))
  }
  await assertNothingRuns(t, write, { routerOptions: { constraints: { secret } } })
})

const TO_A_WILDCARD = writing('DELETE', '/files/*', '/files/probe')

test('the error names the route that the request reached, and how to reach the other', async (t) => {
  const { app } = await withPreferred(t, TO_A_WILDCARD, Fastify())
  await assert.rejects(
    probe(app, authority),
    /DELETE \/files\/\*: the request reached \/files\/probe/,
  )
})

test('a probe runs no handler in an application that was made before the import', async (t) => {
  const [app] = madeBefore
  assert.ok(app, 'it was made')
  const { counts } = await withPreferred(t, TO_A_WILDCARD, app)
  await assert.rejects(assertGuarded(app, authority), Error)
  assert.deepEqual(counts, { handlers: 0, hooks: 0 })
})

test('a probe runs no handler where a constraint is found out later', async (t) => {
  const constraints = {
    region: {
      name: 'region',
      storage: () => {
        const stores = new Map<unknown, never>()
        return {
          get: (key: unknown) => stores.get(key) ?? null,
          set: (key: unknown, store: never) => void stores.set(key, store),
        }
      },
      deriveConstraint: (_request: unknown, _context: unknown, done: CallableFunction) => {
        setImmediate(() => done(null, 'eu'))
      },
      validate: () => true,
    },
  }
  const write: Write = (guarded, outside, ran) => {
    guarded.delete('/files/*', { constraints: { region: 'eu' } }, handler)
    outside.delete('/files/probe', { constraints: { region: 'eu' } }, run(ran))
  }
  const app = Fastify({ routerOptions: { constraints: constraints as never } })
  const { counts } = await withPreferred(t, write, app)
  await assert.rejects(assertGuarded(app, authority), Error)
  assert.equal(counts.handlers, 0)
})

test('a probe runs no not-found handler that a hook calls in the place of the guard', async (t) => {
  const app = bareApp(t)
  let ran = 0
  app.setNotFoundHandler(async () => ran++)
  await app.register(async (scope) => {
    scope.addHook('onRequest', async (_request, reply) => {
      reply.callNotFound()
      return reply
    })
    await scope.register(tenantAuth, trusting({ uncovered: 'ignore' }))
    scope.get('/files', handler)
  })
  await assert.rejects(assertGuarded(app, authority), /GET \/files: the request reached no route/)
  assert.equal(ran, 0)
})

test('a request that is no probe is served while one is under way, and all is as it was after', async (t) => {
  const app = bareApp(t)
  await app.register(async (scope) => {
    await scope.register(tenantAuth, trusting({ uncovered: 'ignore' }))
    scope.get('/files', handler)
  })
  app.get('/other', async ({ raw }) => raw.constructor.name)
  await app.ready()
  const other = app.inject('/other')
  const [first, second, answer] = await Promise.all([
    probe(app, authority),
    probe(app, authority),
    other,
  ])
  assert.deepEqual(first, second)
  assert.equal(answer.statusCode, 200)
  assert.equal((await app.inject('/other')).body, answer.body)
  let prototype: object | null = null
  app.server.emit('nothing')
  await app.close()
  const plain = bareApp(t)
  plain.get('/x', async (request) => {
    prototype = Object.getPrototypeOf(request)
    return 'x'
  })
  await plain.inject('/x')
  assert.equal(Reflect.has(Object(prototype), 'raw'), false, 'the setter is gone')
})

test('where Fastify does not show its requests, nothing is asked', async (t) => {
  const app = await guardedApp(t)
  app.get('/files', handler)
  await app.ready()
  t.mock.method(Object, 'getOwnPropertySymbols', () => [])
  await assert.rejects(probe(app, authority), /does not show its requests/)
})
