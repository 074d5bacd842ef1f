import { Readable } from 'node:stream'
import { setInterval } from 'node:timers/promises'
import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions, signalOf } from '../../lib/index.ts'

/** Orders as they come in, over a WebSocket and as Server-Sent Events. */
export async function liveOrders(app: FastifyInstance, options: AuthOptions): Promise<void> {
  await app.register(tenantAuth, options)
  await app.register(websocket)

  app.get('/:tenant/live', { websocket: true }, (socket, request) => {
    signalOf(request).addEventListener('abort', () => socket.close(4401))
    socket.send(`orders of ${request.id}`)
  })

  app.get('/:tenant/events', { config: { tenant: 'required' } }, async (request, reply) => {
    reply.header('content-type', 'text/event-stream')
    return Readable.from(ordersOf(request.tenant, signalOf(request)))
  })
}

async function* ordersOf(tenant: string, signal: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const _ of setInterval(20, undefined, { signal })) yield `data: ${tenant}\n\n`
  } catch {
    // The admission has ended, and so does the stream.
  }
}
