import assert from 'node:assert/strict'
import { test } from 'node:test'
import rateLimit from '@fastify/rate-limit'
import { authorizationOf } from '../../lib/index.ts'
import { beside, SIDES } from '../helpers/app/beside.ts'

const TENANTS = { sub: 'alice', resources: { 'lazy-raccoon': [], 'busy-badger': [] } }

for (const side of SIDES) {
  test(`With @fastify/rate-limit ${side} the guard each tenant has a limit of its own`, async (t) => {
    const { app, authority } = await beside(t, side, (app) =>
      app.register(rateLimit, {
        max: 2,
        keyGenerator: (request) => authorizationOf(request)?.tenant ?? request.ip,
      }),
    )
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
    const { app } = await beside(t, side, (app) => app.register(rateLimit, { max: 1 }))
    app.get('/menus', async () => 'ok')
    for (let i = 0; i < 3; i++) assert.equal((await app.inject('/menus')).statusCode, 401)
  })
}

// test/examples/deployed.test.ts counts 401s with it.
