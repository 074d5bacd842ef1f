import type { FastifyInstance } from 'fastify'
import {
  backchannelLogout,
  type RedisClient,
  redisDenyList,
} from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** The API of a front end. Its users log out at the authorization server. */
export async function lunchApi(
  app: FastifyInstance,
  client: RedisClient,
  options: AuthOptions,
): Promise<void> {
  const revoked = redisDenyList({ client })
  await app.register(tenantAuth, { ...options, isRevoked: revoked })
  await app.register(backchannelLogout, { revoked, clients: ['lunch-web', 'lunch-app'] })
  app.get('/menu', async () => 'soup')
}
