import { once } from 'node:events'
import { connect } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Sends lines to a listening application as they are, byte for byte in latin1, and reads the whole
 * answer.
 */
export async function rawRequest(app: FastifyInstance, ...lines: string[]): Promise<string> {
  const [address] = app.addresses()
  if (typeof address !== 'object') throw new Error('the application does not listen')
  const socket = connect(address.port, '127.0.0.1')
  await once(socket, 'connect')
  socket.end(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'))
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

/** Status and error code of a raw answer. */
export function outcomeOf(answer: string): string {
  const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 'none'
  const code = /"code":"(\w+)"/.exec(answer)?.[1]
  return code === undefined ? status : `${status} ${code}`
}
