import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { applicationRoutes, keepRoutes } from '../../lib/declaration/application-routes.ts'

const handler = async () => 'x'

const urlsOf = (app: FastifyInstance) =>
  applicationRoutes(app)?.flatMap(({ taken }) => taken.map(({ url }) => url))

/** What other code may say on the channel of Fastify. */
const FOREIGN: unknown[] = [
  ...[null, undefined, 'x', [], {}],
  ...[null, 'x', true, [], {}, () => {}, { addHook: true }].map((fastify) => ({ fastify })),
]

test('messages of other code on the channel of Fastify change nothing', async (t) => {
  for (const message of FOREIGN) channel('fastify.initialization').publish(message)
  // An exception of a subscriber reaches the process in the next tick, and fails the test.
  await setImmediate()
  const app = Fastify({ exposeHeadRoutes: false })
  t.after(() => app.close())
  app.get('/one', handler)
  assert.deepEqual(urlsOf(app), ['/one'])
})

test('an application that is told of twice keeps its routes, each of them once', async (t) => {
  const app = Fastify({ exposeHeadRoutes: false })
  t.after(() => app.close())
  app.get('/one', handler)
  channel('fastify.initialization').publish({ fastify: app })
  app.get('/two', handler)
  assert.deepEqual(urlsOf(app), ['/one', '/two'])
})

test('all routes of an application are known, in the order of writing, with their scopes', async (t) => {
  const app = Fastify({ exposeHeadRoutes: false })
  t.after(() => app.close())
  app.get('/one', handler)
  await app.register(async (child) => void child.get('/two', handler), { prefix: '/in' })
  const routes = keepRoutes(app) ?? []
  app.get('/three', handler)
  assert.equal(applicationRoutes(app) === routes, true)
  assert.deepEqual(urlsOf(app), ['/one', '/in/two', '/three'])
  assert.equal(routes[0]?.scope === app, true)
  await app.ready()
  assert.equal(applicationRoutes(app)?.length, 3)
})

test('without a guard, routes are let go when the application is ready', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  app.get('/one', handler)
  await app.ready()
  assert.deepEqual(applicationRoutes(app), [])
})

test('applications that share a server are told apart', async (t) => {
  const server = createServer()
  const applications = [1, 2].map(() => Fastify({ serverFactory: () => server }))
  for (const [index, app] of applications.entries()) {
    t.after(() => app.close())
    app.get(`/${index}`, { exposeHeadRoute: false }, handler)
  }
  const urls = applications.map(urlsOf)
  assert.deepEqual(urls, [['/0'], ['/1']])
})
