import fastifyWebsocket, { type WebSocket } from '@fastify/websocket'
import { signalOf, type UserInfo } from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

await app.register(fastifyWebsocket)

app.get(
  '/:tenant/a',
  { websocket: true, config: { tenant: 'required', userInfo: true } },
  (socket, request) => {
    // Prevents that a socket's handler knows less of its tenant than a route's.
    expectType(socket).is<WebSocket>()
    expectType(request.tenant).is<string>()
    expectType(request.userInfo).is<UserInfo>()
    expectType(request.resources).is<undefined>()
    expectType(signalOf(request)).is<AbortSignal>()
  },
)

app.get('/b', { websocket: true }, (_socket, request) => {
  expectType(request.tenant).is<string | null | undefined>()
})

app.route({
  method: 'GET',
  url: '/c',
  config: { tenant: true },
  handler: async (request) => {
    expectType(request.tenant).is<string | null>()
  },
  wsHandler: (_socket, request) => {
    expectType(request.tenant).is<string | null>()
  },
})
