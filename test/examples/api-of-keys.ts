import Fastify from 'fastify'
import tenantAuth from '../../lib/index.ts'
import { ApiKeys } from './api-keys.ts'
import type { SqlDatabase } from './sql-database.ts'

/** An API of API keys alone. */
export async function apiOfKeys(database: SqlDatabase) {
  const app = Fastify()

  const names = { issuer: 'https://lunch.example.com', audience: 'lunch' }
  const keys = new ApiKeys(database, names)
  await keys.createSchema()
  await app.register(tenantAuth, {
    ...names,
    publicKeys: { keys: [] },
    opaqueToken: keys.claimsOf,
    tokenFrom: ({ headers }) => headers['x-api-key']?.toString() ?? null,
  })

  app.get(
    '/:tenant/orders',
    { config: { tenant: 'required', require: 'order:read' } },
    async ({ tenant }) => `orders of ${tenant}`,
  )

  return { app, keys }
}
