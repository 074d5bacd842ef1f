import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'

/** What a server answers, by path: a handler, or what is sent as JSON. */
export type Paths = Readonly<Record<string, object | ((response: ServerResponse) => void)>>

/** A server on loopback, until the test ends. Paths that it does not know are 404. */
export async function servePaths(
  t: TestContext,
  paths: (origin: string) => Paths | Promise<Paths>,
): Promise<string> {
  const server = createServer((request, response) => {
    const answer = Object(known)[request.url ?? '']
    if (answer === undefined) response.writeHead(404).end()
    else if (typeof answer === 'function') answer(response)
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const origin = `http://127.0.0.1:${address.port}`
  const known = await paths(origin)
  return origin
}
