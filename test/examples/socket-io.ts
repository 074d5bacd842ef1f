import type { FastifyInstance } from 'fastify'
import { Server } from 'socket.io'

/** Sockets of socket.io, beside the routes of a guarded application. */
export function serveSockets(app: FastifyInstance): Server {
  const io = new Server(app.server)

  io.use(async (socket, next) => {
    try {
      const { token, tenant } = socket.handshake.auth
      const who = { token, tenant, require: 'order:read' }
      const { authorization, signal } = await app.authService.authenticate(who)
      signal.addEventListener('abort', () => socket.disconnect(true))
      socket.data = { authorization }
      await socket.join(`tenant ${authorization.tenant}`)
      next()
    } catch {
      next(new Error('not permitted'))
    }
  })

  return io
}
