import { currentAuthorization } from '../../../lib/index.ts'
import { asTenant } from '../tenants-in-a-database/as-tenant.ts'
import type { Database, Session } from '../tenants-in-a-database/database.ts'

/**
 * Runs statements as the tenant of the request or job that this code runs for. Neither has to hand
 * its tenant down, and code that runs for neither gets no connection at all.
 */
export function asCurrentTenant<Result>(
  database: Database,
  run: (session: Session) => Promise<Result>,
): Promise<Result> {
  const tenant = currentAuthorization()?.tenant ?? null
  if (tenant === null) throw new Error('this code runs for no tenant')
  return asTenant(database, tenant, run)
}

/** Of the current tenant. A handler calls it, and so does a job. */
export async function dishNames(database: Database): Promise<string[]> {
  const rows = await asCurrentTenant(database, ({ query }) =>
    query<{ name: string }>('select name from dishes order by id'),
  )
  return rows.map(({ name }) => name)
}
