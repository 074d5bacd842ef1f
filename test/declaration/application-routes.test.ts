import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { test } from 'node:test'
import Fastify from 'fastify'
import { applicationRoutes } from '../../lib/declaration/application-routes.ts'

const handler = async () => 'x'

test('what somebody else tells on the channel of Fastify changes nothing', () => {
  for (const message of [null, {}, 'x']) channel('fastify.initialization').publish(message)
  assert.equal(Fastify().version, Fastify().version)
})

test('all routes of an application are known, in the order of writing, with their scopes', async (t) => {
  const app = Fastify({ exposeHeadRoutes: false })
  t.after(() => app.close())
  app.get('/one', handler)
  await app.register(async (child) => void child.get('/two', handler), { prefix: '/in' })
  const routes = applicationRoutes(app) ?? []
  assert.deepEqual(
    routes.map(({ url }) => url),
    ['/one', '/in/two'],
  )
  assert.equal(routes[0]?.scope === app, true)
  await app.ready()
  assert.equal(applicationRoutes(app)?.length, 2)
})

test('without a guard that asks for them, routes are let go when the application is ready', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  app.get('/one', handler)
  await app.ready()
  assert.deepEqual(applicationRoutes(app), [])
})
