import type { SqlDatabase } from './sql-database.ts'

/** For the option `tenants`. */
export async function isTenant(database: SqlDatabase, tenant: string): Promise<boolean> {
  const { rows } = await database.query<{ name: string }>(
    'select name from tenants where name = $1',
    [tenant],
  )
  return rows.some(({ name }) => name === tenant)
}
