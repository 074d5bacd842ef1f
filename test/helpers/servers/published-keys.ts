import type { ServerResponse } from 'node:http'
import type { ForgeKey } from '../tokens/forge.ts'
import { askedServer } from './asked-server.ts'

/** A JWKS endpoint of a test. The test may change its answer at any time. */
export interface PublishedKeys {
  readonly url: string
  keys: readonly ForgeKey[]
  /** How many requests it had. */
  readonly fetches: number
  /** Answers with this in place of the keys. */
  answer: ((response: ServerResponse) => void) | undefined
}

/** The answer of a server that is down. */
export const DOWN = (response: ServerResponse): void => void response.destroy()

export async function publishKeys(...keys: ForgeKey[]): Promise<PublishedKeys> {
  const server = await askedServer((_request, response) => {
    if (published.answer) return published.answer(response)
    response.end(JSON.stringify({ keys: published.keys.map((key) => key.publicJwk) }))
  })
  const published: PublishedKeys = {
    url: `${server.url}keys`,
    keys,
    get fetches() {
      return server.count
    },
    answer: undefined,
  }
  return published
}
