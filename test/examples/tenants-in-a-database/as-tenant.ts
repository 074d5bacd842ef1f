import type { Database, Session } from './database.ts'

/**
 * Runs statements as one tenant: in a transaction, as a role that row security binds, and with
 * `app.tenant` set for the policies. Role and setting end with the transaction, so the next request
 * on this connection starts clean. A statement sees and changes rows of this tenant only, even if
 * it forgets to say so. (This guards against mistakes. An attacker who gets SQL into a statement
 * could set another tenant, so values belong into parameters.)
 */
export function asTenant<Result>(
  database: Database,
  tenant: string,
  run: (session: Session) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (session) => {
    await session.query('set local role lunch_app')
    await setTenant(session, tenant)
    return run(session)
  })
}

/** For the option `tenants`. Even this needs no WHERE: a tenant sees only itself in the table. */
export async function tenantExists(database: Database, tenant: string): Promise<boolean> {
  const rows = await asTenant(database, tenant, (session) => session.query('select from tenants'))
  return rows.length === 1
}

/**
 * Unless the tenant is there already. Requests cannot call this, because their role may not insert
 * tenants.
 */
export async function addTenant(database: Database, tenant: string): Promise<void> {
  await database.transaction(async (session) => {
    await setTenant(session, tenant)
    await session.query('insert into tenants (name) values ($1) on conflict do nothing', [tenant])
  })
}

/** A function, because SET takes no parameters. `true`: until the end of the transaction. */
async function setTenant(session: Session, tenant: string): Promise<void> {
  await session.query(`select set_config('app.tenant', $1, true)`, [tenant])
}
