import type { FastifyInstance } from 'fastify'
import { type RedisClient, redisDenyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** @param client of ioredis or iovalkey, or of redis after its `connect()` */
export async function useRevocation(
  app: FastifyInstance,
  client: RedisClient,
  options: AuthOptions & { issuer: string },
): Promise<void> {
  const revoked = redisDenyList({ client })
  await app.register(tenantAuth, { ...options, isRevoked: revoked })
  app.post<{ Params: { sub: string } }>(
    '/users/:sub/lock',
    { config: { require: ['user:lock'] } },
    async ({ params: { sub } }) => {
      await revoked.add({ sub, issuer: options.issuer, issuedBefore: new Date() })
      return 'locked'
    },
  )
}
