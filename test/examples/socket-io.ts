import type { FastifyInstance } from 'fastify'
import { Server, type Socket } from 'socket.io'
import type { Caller } from '../../lib/index.ts'

/** Sockets of socket.io, beside the routes of a guarded application. */
export function serveSockets(app: FastifyInstance): Server {
  const io = new Server(app.server)

  const callers = new WeakMap<Socket, Caller>()

  io.use(async (socket, next) => {
    try {
      const { token, tenant } = socket.handshake.auth
      const who = { token, tenant, require: 'order:read' }
      const caller = await app.authService.authenticate(who)
      const { authorization } = caller
      socket.data = { authorization }
      callers.set(socket, caller)
      await socket.join(`tenant ${authorization.tenant}`)
      next()
    } catch {
      next(new Error('not permitted'))
    }
  })

  io.on('connection', (socket) => {
    const signal = callers.get(socket)?.signal
    const end = () => socket.disconnect(true)
    signal?.addEventListener('abort', end)
    socket.once('disconnect', () => signal?.removeEventListener('abort', end))
  })

  return io
}
