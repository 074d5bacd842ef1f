import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions, type ListedIssuer } from '../../../lib/index.ts'
import type { SqlDatabase } from '../sql-database.ts'
import { providerOf } from './providers.ts'

/**
 * The realm of the company itself serves all tenants, and stands in the configuration. Each
 * customer has a realm of its own, in a table, which serves the tenants of that customer only.
 */
export async function createApp(
  database: SqlDatabase,
  { issuer: own, ...rules }: ListedIssuer,
  options: AuthOptions = {},
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(tenantAuth, {
    ...options,
    issuers: async (issuer) => (issuer === own ? rules : providerOf(database, issuer)),
  })

  app.get(
    '/:tenant/menu',
    { config: { tenant: 'required', require: 'menu:read' } },
    async ({ tenant }) => `soup as ${tenant} likes it`,
  )

  app.get('/me', { config: { authorization: true } }, async ({ authorization }) => ({
    // `sub` alone is no user: another realm may have given it to somebody else.
    issuer: authorization.issuer,
    sub: authorization.userInfo.sub,
    resources: authorization.userInfo.resources,
  }))

  return app
}
