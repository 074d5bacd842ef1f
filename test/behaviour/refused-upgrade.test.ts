import assert from 'node:assert/strict'
import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import tenantAuth from '../../lib/index.ts'
import { bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { until } from '../helpers/processes/until.ts'

/** A guarded application that listens, with or without a plugin that takes upgrades. */
async function listening(
  t: TestContext,
  hasWebSockets: boolean,
  logger: FastifyServerOptions['logger'] = false,
): Promise<FastifyInstance> {
  const app = bareApp(t, { forceCloseConnections: true, logger })
  if (hasWebSockets) await app.register(websocket)
  await app.register(tenantAuth, trusting())
  app.get('/x', async () => 'never')
  if (hasWebSockets) app.get('/socket', { websocket: true }, (socket) => socket.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/** A raw connection, and all that it has received. */
async function connected(t: TestContext, app: FastifyInstance) {
  const socket: Socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
  t.after(() => socket.destroy())
  const state = { text: '', isEnded: false }
  socket.on('data', (chunk) => {
    state.text += String(chunk)
  })
  socket.on('end', () => {
    state.isEnded = true
  })
  await once(socket, 'connect')
  const ask = (url: string, ...headers: string[]) =>
    socket.write([`GET ${url} HTTP/1.1`, 'host: x', ...headers, '', ''].join('\r\n'))
  const answers = () => state.text.split(/(?=HTTP\/1\.1 )/)
  return { ask, answers, state }
}

const H2C = ['connection: Upgrade, HTTP2-Settings', 'upgrade: h2c', 'http2-settings: AAMAAABk']
const WEBSOCKET = [
  'connection: Upgrade',
  'upgrade: websocket',
  'sec-websocket-version: 13',
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
]

/** Requests that offer an upgrade which does not take place. The connection stays open. */
const PLAIN: readonly [what: string, hasWebSockets: boolean, headers: string[]][] = [
  ['h2c, where no plugin takes upgrades', false, H2C],
  ['a WebSocket, where no plugin takes upgrades', false, WEBSOCKET],
  ['h2c, not for this connection', false, ['upgrade: h2c']],
  ['h2c, not for this connection, beside WebSockets', true, ['upgrade: h2c']],
]

for (const [what, hasWebSockets, headers] of PLAIN) {
  test(`a refused request that offers ${what} is answered, and so is the next one`, async (t) => {
    const app = await listening(t, hasWebSockets)
    const { ask, answers, state } = await connected(t, app)
    for (const count of [1, 2, 3]) {
      ask('/x', ...headers)
      await until(() => answers().length === count && state.text.endsWith('}'))
    }
    for (const answer of answers()) {
      assert.match(answer, /^HTTP\/1\.1 401 /)
      assert.doesNotMatch(answer, /connection: close/i)
    }
    assert.equal(state.isEnded, false)
  })
}

/** Requests that a plugin takes over. After that, no server reads from the connection. */
const TAKEN: readonly [what: string, url: string, headers: string[]][] = [
  ['a WebSocket', '/socket', WEBSOCKET],
  ['a WebSocket at a plain route', '/x', WEBSOCKET],
  ['h2c', '/x', H2C],
]

for (const [what, url, headers] of TAKEN) {
  test(`beside WebSockets a refused upgrade to ${what} says that the connection ends, and ends it`, async (t) => {
    const app = await listening(t, true)
    const { ask, answers, state } = await connected(t, app)
    ask(url, ...headers)
    await until(() => state.isEnded)
    const [answer = '', ...more] = answers()
    assert.match(answer, /^HTTP\/1\.1 401 /)
    assert.match(answer, /\r\nconnection: close\r\n/i)
    assert.match(answer, /"code":"ERR_AUTH_TOKEN_MISSING"/)
    assert.deepEqual(more, [])
  })
}

test('a refused upgrade ends though a serializer of the application fails over its line', async (t) => {
  const reason = () => {
    throw new TypeError('it is no object of mine')
  }
  const stream = { write: () => {} }
  const app = await listening(t, true, { stream, serializers: { reason } })
  const { ask, answers, state } = await connected(t, app)
  ask('/socket', ...WEBSOCKET)
  await until(() => state.isEnded)
  assert.match(answers().join(), /^HTTP\/1\.1 401 .*\r\nconnection: close\r\n/is)
})

test('a refused upgrade ends though its client keeps the connection, and the application closes', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', async () => 'never')
  app.server.on('upgrade', (request) => {
    const response = new ServerResponse(request)
    response.assignSocket(request.socket)
    app.routing(request, response)
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = new URL(app.listeningOrigin)
  const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
  try {
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
    })
    socket.write(['GET /x HTTP/1.1', 'host: x', ...WEBSOCKET, '', ''].join('\r\n'))
    await once(socket, 'end')
    assert.match(text, /^HTTP\/1\.1 401 .*"code":"ERR_AUTH_TOKEN_MISSING"/s)
    let isClosed = false
    void app.close().then(() => {
      isClosed = true
    })
    await until(() => isClosed, 10_000)
  } finally {
    socket.destroy()
  }
})

test('an injected WebSocket that is refused fails', async (t) => {
  const app = await listening(t, true)
  await assert.rejects(app.injectWS('/socket'), /401/)
})
