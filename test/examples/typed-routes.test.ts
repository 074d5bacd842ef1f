import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import tenantAuth from '../../lib/index.ts'
import { createTestAuthority } from '../../lib/testing.ts'
import { addTypedRoutes } from './typed-routes.ts'

test('what the types say is what the handlers receive', async (t) => {
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

  const plate = await app.inject({ url: '/plate', headers })
  assert.equal(plate.body, 'test-user of no tenant')
})
