import assert from 'node:assert/strict'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import fastifyStatic from '@fastify/static'
import underPressure from '@fastify/under-pressure'
import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import { WebSocket } from 'ws'
import tenantAuth, { authorizationOf, signalOf } from '../../lib/index.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

const guard = async (app: FastifyInstance) => {
  await app.register(tenantAuth, trusting())
}

const sockets = async (app: FastifyInstance) => {
  await app.register(websocket)
}

/** A WebSocket route. It can be written before its plugin is loaded. */
const ORDERS = [
  ['the guard first', [guard, sockets]],
  ['@fastify/websocket first', [sockets, guard]],
] as const

for (const [order, plugins] of ORDERS) {
  test(`injectWS of @fastify/websocket makes up requests, and they are guarded, with ${order}`, async (t) => {
    const app = bareApp(t)
    for (const plugin of plugins) await plugin(app)
    let opened = 0
    app.get('/:tenant/live', { websocket: true }, (_socket, request) => {
      if (!signalOf(request).aborted) opened++
    })
    await app.ready()
    await assert.rejects(app.injectWS('/quiet-otter/live'), /response: 401/)
    const headers = await as()
    await assert.rejects(app.injectWS('/other/live', { headers }), /response: 403/)
    assert.equal(opened, 0)
    const socket = await app.injectWS('/quiet-otter/live', { headers })
    assert.equal(opened, 1)
    socket.terminate()
  })
}

for (const [order, plugins] of ORDERS) {
  test(`a WebSocket is upgraded for users only, and refusals keep no socket, with ${order}`, async (t) => {
    const app = bareApp(t)
    for (const plugin of plugins) await plugin(app)
    let opened = 0
    app.get('/:tenant/live', { websocket: true, config: { tenant: true } }, (socket, request) => {
      opened++
      socket.send(`${request.tenant} ${authorizationOf(request)?.userInfo.sub}`)
    })
    const address = (await app.listen({ host: '127.0.0.1', port: 0 })).replace('http', 'ws')
    const headers = await as()

    await assert.rejects(hear(`${address}/quiet-otter/live`), /Unexpected server response: 401/)
    await assert.rejects(hear(`${address}/other/live`, headers), /response: 403/)
    assert.equal(opened, 0)
    assert.equal(await hear(`${address}/quiet-otter/live`, headers), 'quiet-otter test-user')
    assert.equal(opened, 1)
    // This would not end while a refused socket is open.
    await app.close()
  })
}

/** The first message on a WebSocket. */
async function hear(address: string, headers = {}): Promise<string> {
  const socket = new WebSocket(address, { headers })
  try {
    const [data] = await once(socket, 'message')
    return String(data)
  } finally {
    socket.terminate()
  }
}

test('a WebSocket route is closed if the guard and @fastify/websocket follow in an un-awaited chain', async (t) => {
  const app = bareApp(t)
  app.register(websocket)
  app.register(async (child) => {
    child.get('/live', { websocket: true }, (socket) => socket.close())
  })
  app.register(tenantAuth, trusting())
  await app.ready()
  await assert.rejects(app.injectWS('/live'), /Unexpected server response: 401/)
})

for (const when of ['before', 'after'] as const) {
  test(`routes of other plugins, registered ${when} the guard, are closed`, async (t) => {
    const app = bareApp(t)
    if (when === 'after') await guard(app)
    await app.register(fastifyStatic, { root: tmpdir(), prefix: '/files/', list: true })
    await app.register(underPressure, { exposeStatusRoute: '/status' })
    if (when === 'before') await guard(app)
    for (const url of ['/files/', '/files/no-such-file', '/status']) {
      assertRefused(await app.inject(url), 'ERR_AUTH_TOKEN_MISSING')
    }
    const response = await app.inject({ url: '/status', headers: await as() })
    assert.equal(outcome(response), '200')
  })
}
