import type { ServerResponse } from 'node:http'
import { askedServer } from './asked-server.ts'

/** What a server answers, by path: a handler, or what is sent as JSON. */
export type Paths = Readonly<Record<string, object | ((response: ServerResponse) => void)>>

/** The origin of a server on loopback. Paths that it does not know are 404. */
export async function servePaths(
  paths: (origin: string) => Paths | Promise<Paths>,
): Promise<string> {
  const { url } = await askedServer((request, response) => {
    const answer = Object(known)[request.url ?? '']
    if (answer === undefined) response.writeHead(404).end()
    else if (typeof answer === 'function') answer(response)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  const origin = url.slice(0, -1)
  const known = await paths(origin)
  return origin
}
