import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import websocket from '@fastify/websocket'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'
import { greeting, refusal, socketTo } from '../helpers/app/sockets.ts'

/**
 * A browser cannot send an Authorization header with a WebSocket. So its token comes as a second
 * subprotocol.
 */
const PROTOCOL = 'menus.v1'
const BEARER = 'bearer.'

function tokenFrom({ headers }: FastifyRequest): string | null {
  const protocols = headers['sec-websocket-protocol']?.split(',').map((name) => name.trim()) ?? []
  return protocols.find((name) => name.startsWith(BEARER))?.slice(BEARER.length) ?? null
}

/** The server answers with the protocol, never with the token. */
const handleProtocols = (offered: Set<string>) => (offered.has(PROTOCOL) ? PROTOCOL : false)

async function chat(t: TestContext, side: (typeof SIDES)[number]) {
  const register = (app: FastifyInstance) =>
    app.register(websocket, { options: { handleProtocols } })
  const parts = await beside(t, side, register, { tokenFrom })
  const { app } = parts
  let opened = 0
  app.get(
    '/:tenant/chat',
    { websocket: true, config: { tenant: 'required' } },
    (socket, request) => {
      opened++
      socket.send(`${request.tenant}`)
    },
  )
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { ...parts, opened: () => opened }
}

for (const side of SIDES) {
  test(`With @fastify/websocket ${side} the guard a stranger is refused before the upgrade`, async (t) => {
    const { app, authority, opened } = await chat(t, side)
    const user = await authority.headers(ALICE)
    for (const [path, headers, statusCode] of [
      ['/lazy-raccoon/chat', {}, 401],
      ['/lazy-raccoon/chat', { authorization: 'Bearer no-token' }, 401],
      ['/busy-badger/chat', user, 403],
    ] as const) {
      const answer = await refusal(socketTo(app, path, { headers }))
      assert.equal(answer.statusCode, statusCode)
      assert.match(String(answer.headers['www-authenticate']), /^Bearer realm="api"/)
    }
    assert.equal(opened(), 0)
  })

  test(`With @fastify/websocket ${side} the guard a socket's handler has its tenant`, async (t) => {
    const { app, authority } = await chat(t, side)
    const headers = await authority.headers(ALICE)
    const socket = socketTo(app, '/lazy-raccoon/chat', { headers })
    assert.equal(await greeting(socket), 'lazy-raccoon')
  })

  test(`With @fastify/websocket ${side} the guard a token comes in a subprotocol and is not echoed`, async (t) => {
    const { app, authority } = await chat(t, side)
    const token = await authority.token(ALICE)
    const protocols = [PROTOCOL, `${BEARER}${token}`]
    const socket = socketTo(app, '/lazy-raccoon/chat', { protocols })
    const [[upgrade], text] = await Promise.all([once(socket, 'upgrade'), greeting(socket)])
    assert.equal(text, 'lazy-raccoon')
    assert.equal(socket.protocol, PROTOCOL)
    assert.equal(JSON.stringify(upgrade.rawHeaders).includes(token), false)
    const forged = [PROTOCOL, `${BEARER}${token}x`]
    const answer = await refusal(socketTo(app, '/lazy-raccoon/chat', { protocols: forged }))
    assert.equal(answer.statusCode, 401)
  })
}
