import { once } from 'node:events'
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { type ForgeKey, forgeKey } from '../tokens/forge.ts'

/** An attacker with a key of their own, and a server that would publish it. */
export interface Attacker {
  readonly key: ForgeKey
  readonly url: string
  /** How often the server was asked. */
  readonly hits: () => number
}

export async function startAttacker(t: TestContext, kid: string): Promise<Attacker> {
  const key = forgeKey('ES256', kid)
  let hits = 0
  const server = createServer((_request, response) => {
    hits += 1
    response.end(JSON.stringify({ keys: [key.publicJwk] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { key, url: `http://127.0.0.1:${port}/keys`, hits: () => hits }
}
