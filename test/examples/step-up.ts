import type { FastifyInstance } from 'fastify'
import { WWWAuthenticateChallengeError } from 'openid-client'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** Payments. To approve them, and to pay much, a user must have logged in lately. */
export async function paymentRoutes(app: FastifyInstance, options: AuthOptions): Promise<void> {
  await app.register(tenantAuth, options)
  app.post(
    '/:tenant/approvals',
    { config: { require: 'payment:approve', stepUp: { acr: ['phr', 'phrh'], maxAge: 300 } } },
    async () => 'approved',
  )
  const body = {
    type: 'object',
    required: ['amount'],
    properties: { amount: { type: 'number' } },
  } as const
  const config = { require: 'payment:create', authorization: true } as const
  app.post<{ Body: { amount: number } }, typeof config>(
    '/:tenant/payments',
    { schema: { body }, config },
    async ({ authorization, body: { amount } }) => {
      if (amount > 1000) authorization.stepUp({ maxAge: 60 })
      return 'paid'
    },
  )
}

/** What a client adds to its next authorization request; undefined: a login is not the matter. */
export function wantedLogin(error: unknown): Record<string, string> | undefined {
  if (!(error instanceof WWWAuthenticateChallengeError)) return undefined
  const wanted = error.cause
    .map(({ parameters }) => parameters)
    .find((each) => each.error === 'insufficient_user_authentication')
  if (wanted === undefined) return undefined
  const { acr_values, max_age } = wanted
  return { ...(acr_values && { acr_values }), ...(max_age && { max_age }) }
}
