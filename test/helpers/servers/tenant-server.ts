import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'

export interface TenantServer {
  readonly url: string
  /** How many requests it had. */
  readonly count: number
  /** Its answer from now on. */
  answer: (response: ServerResponse) => void
}

/** A server of tenant lists on loopback that ends with its test. */
export async function tenantServer(t: TestContext, body: string): Promise<TenantServer> {
  const state = { count: 0, answer: json(body) }
  const server = createServer((_request, response) => {
    state.count++
    state.answer(response)
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/tenants`,
    get count() {
      return state.count
    },
    get answer() {
      return state.answer
    },
    set answer(answer) {
      state.answer = answer
    },
  }
}

export function json(body: string, status = 200): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }
}
