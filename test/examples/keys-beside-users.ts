import Fastify from 'fastify'
import tenantAuth, { type ListedIssuer, type ResourcesOf } from '../../lib/index.ts'
import { ApiKeys } from './api-keys.ts'
import type { SqlDatabase } from './sql-database.ts'

/** API keys bring their own rights. Those of users, who have tokens of a server, are in a table. */
export async function keysBesideUsers(
  database: SqlDatabase,
  users: ListedIssuer,
  resourcesOf: ResourcesOf,
) {
  const app = Fastify()

  const names = { issuer: 'https://keys.example.com', audience: 'lunch' }
  const keys = new ApiKeys(database, names)
  await keys.createSchema()
  // An issuer has keys. Nobody keeps the private one, so there is no JWT of this issuer.
  const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' }
  const { publicKey } = await crypto.subtle.generateKey(ecdsa, false, ['sign', 'verify'])
  const machines: ListedIssuer = {
    ...names,
    tenants: '*',
    publicKeys: { keys: [await crypto.subtle.exportKey('jwk', publicKey)] },
    resourcesOf: 'claims',
  }
  await app.register(tenantAuth, {
    issuers: [users, machines],
    resourcesOf,
    opaqueToken: keys.claimsOf,
  })

  app.get(
    '/:tenant/orders',
    { config: { tenant: 'required', require: 'order:read' } },
    async ({ tenant }) => `orders of ${tenant}`,
  )

  return { app, keys }
}
