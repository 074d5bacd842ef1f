import assert from 'node:assert/strict'
import { test } from 'node:test'
import underPressure from '@fastify/under-pressure'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

for (const side of SIDES) {
  test(`With @fastify/under-pressure ${side} the guard its status route is closed unless it is declared open`, async (t) => {
    for (const [config, statusCode] of [
      [{}, 401],
      [{ noauth: true }, 200],
    ] as const) {
      const { app } = await beside(t, side, (app) =>
        app.register(underPressure, {
          exposeStatusRoute: { routeOpts: { config }, url: '/status' },
        }),
      )
      assert.equal((await app.inject('/status')).statusCode, statusCode)
    }
  })

  test(`With @fastify/under-pressure ${side} the guard an overload opens nothing, and users get a 503`, async (t) => {
    const { app, authority } = await beside(t, side, (app) =>
      app.register(underPressure, { healthCheck: async () => false, healthCheckInterval: 60_000 }),
    )
    app.get('/menus', async () => 'ok')
    const headers = await authority.headers(ALICE)
    assert.equal((await app.inject({ url: '/menus', headers })).statusCode, 503)
    const anonymous = await app.inject('/menus')
    assert.equal(anonymous.statusCode, side === 'before' ? 503 : 401)
  })
}

test('The health of the whole application includes whether the guard can decide', async (t) => {
  const { app } = await beside(t, 'after', (app) =>
    app.register(underPressure, {
      healthCheck: async () => app.authService.isReady(),
      healthCheckInterval: 60_000,
    }),
  )
  app.get('/open', { config: { noauth: true } }, async () => 'ok')
  assert.equal((await app.inject('/open')).body, 'ok')
})
