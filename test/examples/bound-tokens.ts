import type { FastifyInstance } from 'fastify'
import { certificateFrom } from '../../lib/entrypoints/certificates/index.ts'
import { type RedisProofClient, redisProofs } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** Bearer tokens are taken, and bound ones with their proofs. Payments are for the latter. */
export async function paymentRoutes(
  app: FastifyInstance,
  client: RedisProofClient,
  options: AuthOptions,
): Promise<void> {
  await app.register(tenantAuth, {
    ...options,
    confirmation: 'check',
    publicUrl: 'https://api.example.com/v2',
    proofSeen: redisProofs({ client }),
  })
  app.get('/:tenant/orders', { config: { userInfo: true } }, async ({ userInfo }) => userInfo.sub)
  app.post(
    '/:tenant/payments',
    { config: { require: 'payment:create', confirmation: 'require' } },
    async () => 'paid',
  )
}

export const behindProxy: AuthOptions = {
  clientCertificate: certificateFrom('client-cert', { proxies: ['10.0.0.0/8'] }),
}
