import assert from 'node:assert/strict'
import { test } from 'node:test'
import rateLimit from '@fastify/rate-limit'
import { authorizationOf } from '../../lib/index.ts'
import { beside, SIDES } from '../helpers/app/beside.ts'

const TENANTS = { sub: 'alice', resources: { 'lazy-raccoon': [], 'busy-badger': [] } }

for (const side of SIDES) {
  test(`With @fastify/rate-limit ${side} the guard each tenant has a limit of its own`, async (t) => {
    const { app, authority } = await beside(side, (app) =>
      app.register(rateLimit, {
        max: 2,
        keyGenerator: (request) => authorizationOf(request)?.tenant ?? request.ip,
      }),
    )
    t.after(() => app.close())
    app.get('/:tenant/menus', async () => 'ok')
    const headers = await authority.headers(TENANTS)
    const statuses = []
    for (const tenant of ['lazy-raccoon', 'lazy-raccoon', 'lazy-raccoon', 'busy-badger']) {
      const { statusCode } = await app.inject({ url: `/${tenant}/menus`, headers })
      statuses.push(statusCode)
    }
    assert.deepEqual(statuses, [200, 200, 429, 200])
  })

  test(`With @fastify/rate-limit ${side} the guard refusals are not counted by default`, async (t) => {
    const { app } = await beside(side, (app) => app.register(rateLimit, { max: 1 }))
    t.after(() => app.close())
    app.get('/menus', async () => 'ok')
    for (let i = 0; i < 3; i++) assert.equal((await app.inject('/menus')).statusCode, 401)
  })
}

test('A limiter of their own, asked before the guard, limits refusals', async (t) => {
  const { app, authority } = await beside('before', async (app) => {
    await app.register(rateLimit, { global: false })
    const refusals = app.createRateLimit({ max: 2, timeWindow: '1 minute' })
    app.addHook('onRequest', async (request, reply) => {
      const limit = await refusals(request, { increment: false })
      if (limit.isAllowed || limit.remaining > 0) return
      reply.header('retry-after', limit.ttlInSeconds)
      return reply.code(429).send({ statusCode: 429, error: 'Too Many Requests' })
    })
    app.addHook('onResponse', async (request, reply) => {
      if (reply.statusCode === 401) await refusals(request)
    })
  })
  t.after(() => app.close())
  app.get('/menus', async () => 'ok')
  const headers = await authority.headers(TENANTS)
  const statuses = []
  for (const sent of [headers, {}, headers, {}, {}, headers]) {
    statuses.push((await app.inject({ url: '/menus', headers: sent })).statusCode)
  }
  assert.deepEqual(statuses, [200, 401, 200, 401, 429, 429])
  const elsewhere = await app.inject({ url: '/menus', headers, remoteAddress: '192.0.2.1' })
  assert.equal(elsewhere.statusCode, 200)
})
