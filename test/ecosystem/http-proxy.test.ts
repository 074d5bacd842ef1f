import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import proxy from '@fastify/http-proxy'
import websocket from '@fastify/websocket'
import Fastify from 'fastify'
import { ALICE, beside, SIDES, type Side } from '../helpers/app/beside.ts'
import { greeting, refusal, socketTo } from '../helpers/app/sockets.ts'

/** A service that trusts its proxy, and counts its requests. */
async function trustingService() {
  const app = Fastify({ forceCloseConnections: true })
  const asked: string[] = []
  app.addHook('onRequest', async (request) => void asked.push(request.url))
  await app.register(websocket)
  app.get('/chat', { websocket: true }, (socket) => socket.send('welcome'))
  app.all('/*', async (request) => `asked for ${request.url}`)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, asked, url: app.listeningOrigin }
}

async function proxied(t: TestContext, side: Side) {
  const service = await trustingService()
  t.after(() => service.app.close())
  const parts = await beside(t, side, (app) =>
    app.register(proxy, {
      upstream: service.url,
      prefix: '/menus',
      config: { tenant: 'required', require: 'menu:read' },
      websocket: true,
    }),
  )
  await parts.app.listen({ port: 0, host: '127.0.0.1' })
  return { ...parts, asked: service.asked }
}

for (const side of SIDES) {
  test(`With @fastify/http-proxy ${side} the guard only users reach the service behind it`, async (t) => {
    const { app, authority, asked } = await proxied(t, side)
    const headers = await authority.headers(ALICE)
    const other = await authority.headers({ resources: { 'lazy-raccoon': [] } })
    for (const [url, sent, statusCode] of [
      ['/menus/today?tenant=lazy-raccoon', {}, 401],
      ['/menus/today?tenant=lazy-raccoon', other, 403],
      ['/menus/today?tenant=busy-badger', headers, 403],
      ['/menus/today', headers, 400],
    ] as const) {
      assert.equal((await app.inject({ url, headers: sent })).statusCode, statusCode)
    }
    assert.deepEqual(asked, [])
    const answer = await app.inject({ url: '/menus/today?tenant=lazy-raccoon', headers })
    assert.equal(answer.body, 'asked for /today?tenant=lazy-raccoon')
  })

  test(`With @fastify/http-proxy ${side} the guard sockets are refused before the upgrade`, async (t) => {
    const { app, authority, asked } = await proxied(t, side)
    const path = '/menus/chat?tenant=lazy-raccoon'
    assert.equal((await refusal(socketTo(app, path))).statusCode, 401)
    assert.deepEqual(asked, [])
    const headers = await authority.headers(ALICE)
    assert.equal(await greeting(socketTo(app, path, { headers })), 'welcome')
  })
}
