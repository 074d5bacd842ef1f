import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { type Configuration, genericGrantRequest } from 'openid-client'
import tenantAuth, { type AuthOptions, type Authorization } from '../../lib/index.ts'

const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

/** Most tokens that are kept. */
const MAX_KEPT = 1000

interface Kept {
  readonly token: Promise<string>
  /** In milliseconds since the epoch; Infinity until there is an answer. */
  until: number
}

/** Gives tokens for another API, on behalf of the users of this one (RFC 8693). */
export class OnBehalfOf {
  readonly #client: Configuration
  readonly #kept = new Map<string, Kept>()

  constructor(client: Configuration) {
    this.#client = client
  }

  /** Whoever asks for the same token shares its answer. A failure is not kept. */
  tokenFor(user: Authorization, token: string, audience: string): Promise<string> {
    const { issuer, userInfo, tenant, expiresAt } = user
    // Another token of the same user may be narrower.
    const digest = createHash('sha256').update(token).digest('base64url')
    const key = JSON.stringify([issuer, userInfo.sub, tenant, audience, digest])
    const known = this.#kept.get(key)
    if (known !== undefined && Date.now() < known.until) return known.token
    const asked = genericGrantRequest(this.#client, TOKEN_EXCHANGE, {
      subject_token: token,
      subject_token_type: ACCESS_TOKEN,
      audience,
    })
    const kept: Kept = {
      until: Number.POSITIVE_INFINITY,
      token: asked.then(({ access_token, expires_in = 0 }) => {
        kept.until = Math.min(Date.now() + expires_in * 1000, expiresAt.getTime())
        return access_token
      }),
    }
    kept.token.catch(() => {
      kept.until = 0
    })
    this.#keep(key, kept)
    return kept.token
  }

  #keep(key: string, kept: Kept): void {
    this.#kept.delete(key)
    const [oldest] = this.#kept.keys()
    if (oldest !== undefined && this.#kept.size >= MAX_KEPT) this.#kept.delete(oldest)
    this.#kept.set(key, kept)
  }
}

/** Shows a user's invoices, which another API has. */
export async function invoiceRoutes(
  app: FastifyInstance,
  { billing, onBehalfOf, ...options }: AuthOptions & { billing: string; onBehalfOf: OnBehalfOf },
): Promise<void> {
  await app.register(tenantAuth, options)
  app.get(
    '/:tenant/invoices',
    { config: { tenant: 'required', authorization: true, require: 'invoice:read' } },
    async ({ tenant, authorization, headers }) => {
      const sent = headers.authorization?.replace(/^bearer +/i, '') ?? ''
      const token = await onBehalfOf.tokenFor(authorization, sent, 'billing')
      const response = await fetch(`${billing}/${encodeURIComponent(tenant)}/invoices`, {
        headers: { authorization: `Bearer ${token}` },
      })
      return response.json()
    },
  )
}
