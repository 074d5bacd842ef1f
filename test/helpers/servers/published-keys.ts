import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import type { ForgeKey } from '../tokens/forge.ts'

/** A JWKS endpoint of a test. The test may change its answer at any time. */
export interface PublishedKeys {
  readonly url: string
  keys: readonly ForgeKey[]
  /** How many requests it had. */
  fetches: number
  /** Answers with this in place of the keys. */
  answer: ((response: ServerResponse) => void) | undefined
}

/** The answer of a server that is down. */
export const DOWN = (response: ServerResponse): void => void response.destroy()

export async function publishKeys(t: TestContext, ...keys: ForgeKey[]): Promise<PublishedKeys> {
  const server = createServer((_request, response) => {
    published.fetches += 1
    if (published.answer) return published.answer(response)
    response.end(JSON.stringify({ keys: published.keys.map((key) => key.publicJwk) }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const url = `http://127.0.0.1:${port}/keys`
  const published: PublishedKeys = { url, keys, fetches: 0, answer: undefined }
  return published
}
