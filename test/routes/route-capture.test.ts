import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { applicationRoutes, type CapturedRoute } from '../../lib/routes/route-capture.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

const handler = async () => 'x'

const urlsOf = (app: FastifyInstance) =>
  applicationRoutes(app)?.flatMap(({ routes }) => routes.map(({ url }) => url))

/** What other code may say on the channel of Fastify. */
const FOREIGN: unknown[] = [
  ...[null, undefined, 'x', [], {}],
  ...[null, 'x', true, [], {}, () => {}, { addHook: true }].map((fastify) => ({ fastify })),
]

test('messages of other code on the channel of Fastify change nothing', async (t) => {
  for (const message of FOREIGN) channel('fastify.initialization').publish(message)
  // An exception of a subscriber reaches the process in the next tick, and fails the test.
  await setImmediate()
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.get('/one', handler)
  assert.deepEqual(urlsOf(app), ['/one'])
})

test('an application that is published twice keeps its routes, each of them once', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.get('/one', handler)
  channel('fastify.initialization').publish({ fastify: app })
  app.get('/two', handler)
  assert.deepEqual(urlsOf(app), ['/one', '/two'])
})

test('without a guard, routes are let go when the application is ready', async (t) => {
  const app = bareApp(t)
  app.get('/one', handler)
  await app.ready()
  assert.deepEqual(applicationRoutes(app), [])
})

test('applications that share a server have their own routes', async (t) => {
  const server = createServer()
  const applications = [1, 2].map(() => Fastify({ serverFactory: () => server }))
  for (const [index, app] of applications.entries()) {
    t.after(() => app.close())
    app.get(`/${index}`, { exposeHeadRoute: false }, handler)
  }
  const urls = applications.map(urlsOf)
  assert.deepEqual(urls, [['/0'], ['/1']])
})

function written(app: FastifyInstance): readonly CapturedRoute[] {
  return applicationRoutes(app) ?? []
}

test('a handler stands for itself in the options, and keeps its name, kind and context', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const seen: unknown[] = []
  app.addHook('onRoute', (options) => {
    const given = options.handler
    seen.push(given.name, given.length, given.constructor.name)
  })
  app.get('/x', async function named(this: FastifyInstance, _request, _reply) {
    return String(this === app)
  })
  assert.deepEqual(seen, ['named', 2, 'AsyncFunction'])
  assert.equal((await app.inject('/x')).body, 'true')
})

test('where a hook gives another handler, or one of another route, that one answers', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  let first: RouteOptions['handler'] | undefined
  app.addHook('onRoute', (options) => {
    first ??= options.handler
    if (options.url === '/new') options.handler = async () => 'new'
    if (options.url === '/first') options.handler = first
  })
  app.get('/one', async () => 'one')
  app.get('/new', handler)
  app.get('/first', handler)
  const urls = written(app).flatMap(({ routes }) => routes.map(({ url }) => url))
  assert.deepEqual(urls, ['/one', '/new', '/first'])
  assert.equal((await app.inject('/new')).body, 'new')
  assert.equal((await app.inject('/first')).body, 'one')
})

test('a handler that is no function stops Fastify, as without us', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.addHook('onRoute', (options) => void Object.assign(options, { handler: 'none' }))
  assert.throws(() => app.get('/x', handler), TypeError)
})

/** Ways of a hook to put a function of its own around the handler, and to bind it. */
const WRAPPERS: Readonly<
  Record<string, (inner: RouteOptions['handler']) => RouteOptions['handler']>
> = {
  'is a proxy of it': (inner) => new Proxy(inner, { apply: () => 'wrapped' }),
  'inherits from it': (inner) => Object.setPrototypeOf(() => 'wrapped', inner),
  'copies its properties': (inner) =>
    Object.defineProperties(() => 'wrapped', Object.getOwnPropertyDescriptors(inner)),
}

for (const [how, wrap] of Object.entries(WRAPPERS)) {
  test(`a wrapper that ${how} is bound as itself`, async (t) => {
    const app = bareApp(t, { exposeHeadRoutes: false })
    app.addHook('onRoute', function (options) {
      options.handler = wrap(options.handler).bind(this)
    })
    app.get(
      '/x',
      Object.freeze(async () => 'bare'),
    )
    assert.deepEqual(urlsOf(app), ['/x'])
    assert.equal((await app.inject('/x')).body, 'wrapped')
  })
}

/** Proxies of an application, such as those that load a handler anew. */
const PROXIES: Readonly<Record<string, ProxyHandler<RouteOptions['handler']>>> = {
  'takes all properties from elsewhere': { get: (_, key) => Reflect.get(handler, key) },
  'takes no property': { defineProperty: () => false },
  'cannot be written': {
    defineProperty: () => {
      throw new TypeError('read only')
    },
  },
}

for (const [how, traps] of Object.entries(PROXIES)) {
  test(`the routes of a handler that is a proxy and ${how} are captured`, async (t) => {
    const app = bareApp(t)
    const proxy = new Proxy(async () => 'x', traps)
    app.get('/one', proxy)
    app.get('/two', proxy)
    assert.deepEqual(urlsOf(app), ['/one', '/one', '/two', '/two'])
    assert.equal((await app.inject('/two')).body, 'x')
  })
}
