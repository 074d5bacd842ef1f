import type { FastifyInstance } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import { useServer } from 'graphql-ws/use/ws'
import { WebSocketServer } from 'ws'
import type { Authorization } from '../../lib/index.ts'

/** What resolvers get as their context. */
export interface Context {
  readonly authorization: Authorization
}

/** Subscriptions by graphql-ws, beside the routes of a guarded application. */
export function serveSubscriptions(app: FastifyInstance, schema: GraphQLSchema): void {
  const sockets = new WebSocketServer({ server: app.server, path: '/graphql' })
  const callers = new WeakMap<object, Context>()

  useServer(
    {
      schema,
      onConnect: async ({ connectionParams, extra: { socket } }) => {
        try {
          const { token, tenant } = { ...connectionParams }
          const who = { token: String(token), tenant: String(tenant) }
          const { authorization, signal } = await app.authService.authenticate(who)
          if (socket.readyState !== socket.OPEN) return false
          const end = () => socket.close(4403, 'Forbidden')
          signal.addEventListener('abort', end)
          socket.once('close', () => signal.removeEventListener('abort', end))
          callers.set(socket, { authorization })
          return true
        } catch {
          return false
        }
      },
      context: ({ extra: { socket } }) => ({ ...callers.get(socket) }),
    },
    sockets,
  )
}
