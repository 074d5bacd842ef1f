import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** Gives the secret of a tenant; undefined: it has none. */
export type SecretOf = (tenant: string) => Promise<string | undefined>

/** Seconds that a webhook may have been on its way. */
const FRESH = 300

/** Of two lists of a signature's bytes. Their lengths are no secret. */
function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** An HMAC. Only the last part may have several lines, so that no two lists make one text. */
export function sign(secret: string, ...parts: (string | Buffer)[]): Buffer {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part).update('\n')
  return hmac.digest()
}

function nowInSeconds(): number {
  return Date.now() / 1000
}

/** Webhooks of a payment service, files behind signed addresses, and a page for everybody. */
export async function hookRoutes(
  app: FastifyInstance,
  secretOf: SecretOf,
  options: AuthOptions,
): Promise<void> {
  // The signature is over the bytes, not over what a parser makes of them.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  const secretFor = async ({ tenant }: FastifyRequest) =>
    (typeof tenant === 'string' ? await secretOf(tenant) : undefined) ?? null
  await app.register(tenantAuth, {
    ...options,
    checks: {
      'webhook:signed': async (_nobody, request) => {
        const { 'x-timestamp': time = '', 'x-signature': signature = '' } = request.headers
        const secret = await secretFor(request)
        const isFresh = Math.abs(nowInSeconds() - Number(time)) <= FRESH
        if (secret === null || !isFresh || !Buffer.isBuffer(request.body)) return false
        const expected = sign(secret, String(time), request.body)
        return isSame(Buffer.from(String(signature), 'hex'), expected)
      },
      'address:signed': async (_nobody, request) => {
        const { expires = '', signature = '' } = Object(request.query)
        const secret = await secretFor(request)
        if (secret === null || !(Number(expires) >= nowInSeconds())) return false
        const [path = ''] = request.url.split('?')
        return isSame(Buffer.from(String(signature), 'hex'), sign(secret, path, String(expires)))
      },
    },
  })
  app.post(
    '/:tenant/hooks/payments',
    { config: { noauth: true, tenant: 'required', check: 'webhook:signed' } },
    async ({ tenant, body }) => ({ tenant, paid: JSON.parse(String(body)).amount }),
  )
  app.get(
    '/:tenant/files/:name',
    { config: { noauth: true, tenant: 'required', check: 'address:signed' } },
    async ({ tenant }) => `a file of ${tenant}`,
  )
  app.get(
    '/:tenant/status',
    { config: { noauth: true, tenant: 'required', suspended: true } },
    async ({ tenant }) => `${tenant} is here`,
  )
}

/** An address that opens one file for a minute, to whoever has it. */
export function signedAddress(secret: string, path: string): string {
  const expires = String(Math.floor(nowInSeconds()) + 60)
  const signature = sign(secret, path, expires).toString('hex')
  return `${path}?${new URLSearchParams({ expires, signature })}`
}
