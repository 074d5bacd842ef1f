import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { addTypedRoutes } from './typed-routes.ts'

test('handlers receive what the types say', async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await app.register(tenantAuth, authority.options)
  addTypedRoutes(app)
  const headers = await authority.headers({ resources: { 'lazy-raccoon': [] } })

  const listed = await app.inject({ url: '/lazy-raccoon/orders', headers })
  assert.deepEqual(listed.json(), { tenant: 'lazy-raccoon' })

  const payload = { dish: 'soup' }
  const url = '/lazy-raccoon/orders'
  const ordered = await app.inject({ method: 'POST', url, headers, payload })
  assert.deepEqual(ordered.json(), { tenant: 'lazy-raccoon', dish: 'soup' })

  const dishes = await app.inject({ url: '/lazy-raccoon/dishes', headers })
  assert.deepEqual(dishes.json(), { dishesOf: 'lazy-raccoon' })

  const plate = await app.inject({ url: '/plate', headers })
  assert.equal(plate.body, 'test-user of no tenant')
})

test("a route's own hooks and error handler get nothing of a refused request", async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await app.register(tenantAuth, authority.options)
  const seen: [string, unknown][] = []
  app.get(
    '/:tenant/orders',
    {
      config: { tenant: 'required' },
      onError: async (request) => void seen.push(['onError', request.tenant]),
      onSend: async (request) => void seen.push(['onSend', request.tenant]),
      errorHandler: async (error, request) => {
        seen.push(['errorHandler', request.tenant])
        throw error
      },
    },
    async (request) => request.tenant,
  )
  const headers = await authority.headers({ resources: { 'busy-beaver': [] } })
  const url = '/lazy-raccoon/orders'
  assert.equal((await app.inject({ url, headers })).statusCode, 403)
  assert.deepEqual(seen.sort(), [
    ['errorHandler', undefined],
    ['onError', undefined],
    ['onSend', undefined],
  ])
  seen.length = 0
  const own = await authority.headers({ resources: { 'lazy-raccoon': [] } })
  assert.equal((await app.inject({ url, headers: own })).statusCode, 200)
  assert.deepEqual(seen, [['onSend', 'lazy-raccoon']])
})
