import type { ServerResponse } from 'node:http'
import { askedServer } from './asked-server.ts'

export interface TenantServer {
  readonly url: string
  /** How many requests it had. */
  readonly count: number
  /** Its answer from now on. */
  answer: (response: ServerResponse) => void
}

/** A server of tenant lists on loopback that ends with its test. */
export async function tenantServer(body: string): Promise<TenantServer> {
  const server = await askedServer((_request, response) => tenants.answer(response))
  const tenants: TenantServer = {
    url: `${server.url}tenants`,
    get count() {
      return server.count
    },
    answer: json(body),
  }
  return tenants
}

export function json(body: string, status = 200): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }
}
