import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import Fastify from 'fastify'
import { io as connect } from 'socket.io-client'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { serveSockets } from './socket-io.ts'

const authority = await createTestAuthority()
const resources = { 'lazy-raccoon': ['order:read'], 'busy-beaver': [] }

async function start(t: TestContext) {
  const app = Fastify({ forceCloseConnections: true })
  t.after(() => app.close())
  const isRevoked = denyList()
  await app.register(tenantAuth, { ...authority.options, isRevoked })
  const listen = async () => {
    await app.listen({ port: 0, host: '127.0.0.1' })
    return (app.server.address() as AddressInfo).port
  }
  return { app, isRevoked, listen }
}

test('a socket of socket.io has the rights of its token, and ends with it', async (t) => {
  const { app, isRevoked, listen } = await start(t)
  const io = serveSockets(app)
  t.after(() => io.close())
  const port = await listen()
  const dial = async (auth: object): Promise<string> => {
    const socket = connect(`http://127.0.0.1:${port}`, {
      ...{ auth, transports: ['websocket'], reconnection: false, forceNew: true },
    })
    t.after(() => socket.disconnect())
    const outcome = new Promise<string>((resolve) => {
      socket.on('connect', () => resolve('connected'))
      socket.on('connect_error', ({ message }) => resolve(message))
    })
    if ((await outcome) === 'connected') last = socket
    return outcome
  }
  let last: ReturnType<typeof connect> | undefined
  const token = await authority.token({ sub: 'dora', resources })
  for (const auth of [
    { token, tenant: 'busy-beaver' },
    { token, tenant: 'other' },
    { token: 'forged', tenant: 'lazy-raccoon' },
    { tenant: 'lazy-raccoon' },
    { token },
    {},
  ]) {
    assert.equal(await dial(auth), 'not permitted')
  }
  assert.equal(await dial({ token, tenant: 'lazy-raccoon' }), 'connected')
  const [orders] = await Promise.all([
    new Promise((resolve) => last?.once('order', resolve)),
    io.to('tenant lazy-raccoon').emit('order', 'soup'),
  ])
  assert.equal(orders, 'soup')
  const ended = new Promise((resolve) => last?.once('disconnect', resolve))
  await isRevoked.add({ sub: 'dora', issuer: authority.issuer })
  assert.equal(await ended, 'io server disconnect')
})
