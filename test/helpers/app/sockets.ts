import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { WebSocket } from 'ws'

/** A WebSocket to a listening application. */
export function socketTo(
  app: FastifyInstance,
  path: string,
  options: {
    readonly headers?: Readonly<Record<string, string>>
    readonly protocols?: readonly string[]
  } = {},
): WebSocket {
  const { headers = {}, protocols = [] } = options
  const url = app.listeningOrigin.replace('http', 'ws')
  return new WebSocket(url + path, [...protocols], { headers })
}

/** The answer to a socket that is refused before the upgrade. */
export async function refusal(socket: WebSocket): Promise<IncomingMessage> {
  const [request, response] = await once(socket, 'unexpected-response')
  response.resume()
  request.destroy()
  return response
}

/** The first message of a socket. After it the socket is ended. */
export async function greeting(socket: WebSocket): Promise<string> {
  const [data] = await once(socket, 'message')
  socket.close()
  await once(socket, 'close')
  return String(data)
}
