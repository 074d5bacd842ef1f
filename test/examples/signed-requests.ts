import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import Fastify, { type FastifyRequest } from 'fastify'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** An engine that signs its requests, and its secret. */
export interface Engine {
  readonly id: string
  readonly tenant: string
  readonly secret: Buffer
}

const SCHEME = /^Engine ([\w-]+):(\d{13}):([\w-]{43})$/
const MOST_AGE = 60_000

/** `Authorization: Engine <id>:<milliseconds>:<HMAC of both, the method and the url>` */
export function signed({ id, secret }: Engine, method: string, url: string): string {
  const now = Date.now()
  return `Engine ${id}:${now}:${hmac(secret, id, now, method, url)}`
}

function hmac(secret: Buffer, ...parts: (string | number)[]): string {
  return createHmac('sha256', secret).update(parts.join('\n')).digest('base64url')
}

/** The engine that has signed a request; null: none has. */
function engineOf(request: FastifyRequest, engines: readonly Engine[]): Engine | null {
  const [, id, time, given = ''] = SCHEME.exec(request.headers.authorization ?? '') ?? []
  const engine = engines.find((each) => each.id === id)
  if (engine === undefined || Math.abs(Date.now() - Number(time)) > MOST_AGE) return null
  const expected = hmac(engine.secret, engine.id, Number(time), request.method, request.url)
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected)) ? engine : null
}

export async function appWithEngines(
  engines: readonly Engine[],
  options: AuthOptions & { readonly issuer: string; readonly audience: string },
) {
  const app = Fastify()

  const proved = new Map<string, Engine>()

  // Before the guard: its own hook comes after those that are there already.
  app.addHook('onRequest', async (request, reply) => {
    const engine = engineOf(request, engines)
    if (engine === null) return
    const handle = randomBytes(32).toString('base64url')
    proved.set(handle, engine)
    reply.raw.once('close', () => proved.delete(handle))
    request.headers.authorization = `Bearer ${handle}`
  })

  await app.register(tenantAuth, {
    ...options,
    opaqueToken: (handle) => {
      const engine = proved.get(handle)
      if (engine === undefined) return null
      const { issuer: iss, audience: aud } = options
      return { iss, aud, sub: `engine:${engine.id}`, resources: { [engine.tenant]: ['flow:run'] } }
    },
  })

  app.post(
    '/:tenant/runs',
    { config: { userInfo: true, require: 'flow:run' } },
    async ({ userInfo }) => `run by ${userInfo.sub}`,
  )

  return { app, proved }
}
