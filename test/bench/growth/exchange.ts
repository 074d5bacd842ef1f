import type { FastifyInstance } from 'fastify'

/** A request of the applications that are compared. */
export interface Ask {
  readonly url: string
  /** The Authorization header, as bytes. */
  readonly authorization: Buffer
  /** The DPoP header. Undefined: there is none. */
  readonly proof?: string
  readonly status: number
}

/**
 * Hands a request to the router of an application. A request through `app.inject` costs fifteen
 * times as much as the guard, and one over a socket no less: a guard that has become twice as slow
 * would be lost in it.
 *
 * The text of the header is a copy of its own, as from a socket, so that its hash is not known.
 */
export function exchange(
  app: FastifyInstance,
  { url, authorization, proof }: Omit<Ask, 'status'>,
): Promise<number> {
  return new Promise((resolve) => {
    const request = new BareRequest(url, authorization.toString('latin1'), proof)
    Reflect.apply(app.routing, app, [request, new BareResponse(request, resolve)])
  })
}

class Emitter {
  on(): this {
    return this
  }

  once(): this {
    return this
  }

  removeListener(): this {
    return this
  }
}

class BareRequest extends Emitter {
  readonly method = 'GET'
  readonly httpVersion = '1.1'
  readonly socket = null
  readonly url: string
  readonly headers: object
  readonly rawHeaders: readonly string[]

  constructor(url: string, authorization: string, proof: string | undefined) {
    super()
    this.url = url
    this.headers = { host: 'localhost', authorization, ...(proof && { dpop: proof }) }
    this.rawHeaders = Object.entries(this.headers).flat()
  }

  resume(): void {}
}

class BareResponse extends Emitter {
  statusCode = 200
  headersSent = false
  writableEnded = false
  readonly req: BareRequest
  readonly #done: (status: number) => void

  constructor(req: BareRequest, done: (status: number) => void) {
    super()
    this.req = req
    this.#done = done
  }

  setHeader(): void {}

  getHeader(): void {}

  hasHeader(): boolean {
    return false
  }

  writeHead(status: number): void {
    this.statusCode = status
    this.headersSent = true
  }

  end(): void {
    this.writableEnded = true
    this.#done(this.statusCode)
  }
}
