import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import Fastify from 'fastify'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { as, trusting } from '../helpers/app/guarded-app.ts'
import { socketTo } from '../helpers/app/sockets.ts'
import { liveOrders } from './live-orders.ts'

test('a socket and a stream of events end when their user is revoked', async (t) => {
  const isRevoked = denyList()
  const app = Fastify()
  t.after(() => app.close())
  await liveOrders(app, trusting({ isRevoked }))
  await app.listen()
  const headers = await as({ acme: [] })
  const socket = socketTo(app, '/acme/live', { headers })
  await once(socket, 'message')
  const closed = once(socket, 'close')
  const events = await fetch(`${app.listeningOrigin}/acme/events`, { headers })
  const text = events.text()
  await isRevoked.add({ sub: 'test-user' })
  assert.equal((await closed)[0], 4401)
  assert.match(await text, /^(?:data: acme\n\n)*$/)
})
