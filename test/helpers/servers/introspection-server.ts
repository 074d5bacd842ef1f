import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { portOf } from './asked-server.ts'

export const CLIENT = { clientId: 'menu-api', clientSecret: 'secret-of-the-menu-api:9Zq+/ü' }

/** Both, form-encoded before, as they stand in the header (RFC 6749 §2.3.1). */
export const BASIC = btoa('menu-api:secret-of-the-menu-api%3A9Zq%2B%2F%C3%BC')

/** One question that came to the introspection endpoint. */
export interface Asked {
  readonly token: string
  readonly authorization: string | undefined
  readonly accept: string | undefined
  readonly body: URLSearchParams
}

type Answer = (response: ServerResponse, asked: Asked) => unknown

export interface IntrospectionServer {
  readonly issuer: string
  /** Address of the endpoint. */
  readonly url: string
  /** Paths of the other requests, in their order. */
  readonly paths: string[]
  /** What the endpoint was asked. */
  readonly asked: Asked[]
  /** Claims of the tokens that it calls active. */
  readonly active: Map<string, object>
  /** How the endpoint answers from now on; undefined: as it should. */
  answer: Answer | undefined
  /** How any other path is answered from now on; undefined: as it should. */
  elsewhere: ((response: ServerResponse, path: string) => unknown) | undefined
  /** What its metadata say from now on, besides or instead. */
  metadata: object
}

/** An authorization server of odd answers on loopback that ends with its test. */
export async function introspectionServer(t: TestContext): Promise<IntrospectionServer> {
  const listener = createServer((request, response) => void serve(request, response))
  t.after(() => {
    listener.close()
    listener.closeAllConnections()
  })
  const issuer = `http://127.0.0.1:${await portOf(listener)}`
  const server: IntrospectionServer = {
    issuer,
    url: `${issuer}/introspect`,
    paths: [],
    asked: [],
    active: new Map(),
    answer: undefined,
    elsewhere: undefined,
    metadata: {},
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    const body = new URLSearchParams(await text(request))
    if (path.startsWith('/introspect')) {
      const { authorization, accept } = request.headers
      const asked = { token: body.get('token') ?? '', authorization, accept, body }
      server.asked.push(asked)
      if (server.answer !== undefined) return void server.answer(response, asked)
      const claims = server.active.get(asked.token)
      return json(response, claims ? { active: true, ...claims } : { active: false })
    }
    server.paths.push(path)
    if (server.elsewhere !== undefined) return void server.elsewhere(response, path)
    json(response, { issuer, introspection_endpoint: server.url, ...server.metadata })
  }

  return server
}

export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
