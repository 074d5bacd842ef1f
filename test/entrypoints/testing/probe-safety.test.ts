import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { guardedApp } from '../../helpers/app/guarded-app.ts'

// They are made before the package is loaded, which does not know them.
const madeBefore = [Fastify(), Fastify()]
const { default: tenantAuth } = await import('../../../lib/index.ts')
const { assertGuarded, probe } = await import('../../../lib/entrypoints/testing/index.ts')
const { authority, bareApp, trusting } = await import('../../helpers/app/guarded-app.ts')

const handler = async () => 'x'

/** Writes a route of the guarded scope, and what the router prefers to it outside of the scope. */
type Write = (guarded: FastifyInstance, outside: FastifyInstance, ran: () => void) => void

const run = (ran: () => void) => async () => {
  ran()
  return 'x'
}

/** How the router may prefer a route that no guard covers to one that is guarded. */
const PREFERRED: readonly [what: string, write: Write, server?: FastifyServerOptions][] = [
  [
    'a static path to a wildcard',
    (guarded, outside, ran) => {
      guarded.delete('/files/*', handler)
      outside.delete('/files/probe', run(ran))
    },
  ],
  [
    'a static path to a parameter',
    (guarded, outside, ran) => {
      guarded.delete('/files/:id', handler)
      outside.delete('/files/probe', run(ran))
    },
  ],
  [
    'a parameter to a wildcard',
    (guarded, outside, ran) => {
      guarded.delete('/files/*', handler)
      outside.delete('/files/:id', run(ran))
    },
  ],
  [
    'an expression to a parameter of the same name',
    (guarded, outside, ran) => {
      guarded.delete('/files/:id', handler)
      outside.delete('/files/:id(^[a-z]+$)', run(ran))
    },
  ],
  [
    'another tenant segment',
    (guarded, outside, ran) => {
      guarded.delete('/:tenant/files', handler)
      outside.delete('/probe/files', run(ran))
    },
  ],
  [
    'a HEAD route to a wildcard',
    (guarded, outside, ran) => {
      guarded.head('/files/*', handler)
      outside.head('/files/probe', run(ran))
    },
  ],
  [
    'an OPTIONS route',
    (guarded, outside, ran) => {
      guarded.options('/files/*', handler)
      outside.options('/files/probe', run(ran))
    },
  ],
  [
    'a host that the request has by chance',
    (guarded, outside, ran) => {
      guarded.delete('/files', handler)
      outside.delete('/files', { constraints: { host: 'localhost:80' } }, run(ran))
    },
  ],
  [
    'a path without the slash at its end',
    (guarded, outside, ran) => {
      guarded.delete('/files/:id/', handler)
      outside.delete('/files/probe', run(ran))
    },
    { routerOptions: { ignoreTrailingSlash: true } },
  ],
  [
    'a path in other letters',
    (guarded, outside, ran) => {
      guarded.delete('/Files/:id', handler)
      outside.delete('/FILES/Probe', run(ran))
    },
    { routerOptions: { caseSensitive: false } },
  ],
  [
    'another url that the application rewrites it to',
    (guarded, outside, ran) => {
      guarded.delete('/files/:id', handler)
      outside.delete('/rewritten', run(ran))
    },
    { rewriteUrl: () => '/rewritten' },
  ],
  [
    'the not-found handler, since a header is missing',
    (guarded, outside, ran) => {
      guarded.delete('/files', { constraints: { secret: 'x' } }, handler)
      outside.setNotFoundHandler(run(ran))
    },
    {
      routerOptions: {
        constraints: {
          secret: {
            name: 'secret',
            storage: () => ({ get: () => null, set: () => {} }),
            deriveConstraint: () => 'none',
            validate: () => true,
          },
        },
      },
    },
  ],
]

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

for (const [what, write, server = {}] of PREFERRED) {
  test(`a probe runs no handler where the router prefers ${what}`, async (t) => {
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
  })
}

test('the error names the route that the request reached, and how to reach the other', async (t) => {
  const [[, write]] = PREFERRED as [(typeof PREFERRED)[number]]
  const { app } = await withPreferred(t, write, Fastify())
  await assert.rejects(
    probe(app, authority),
    /DELETE \/files\/\*: the request reached \/files\/probe/,
  )
})

test('a probe runs no handler in an application that was made before the import', async (t) => {
  const [app] = madeBefore
  assert.ok(app, 'it was made')
  const [[, write]] = PREFERRED as [(typeof PREFERRED)[number]]
  const { counts } = await withPreferred(t, write, app)
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
  await assert.rejects(assertGuarded(app, authority), /, no such route|not from the guard/)
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
