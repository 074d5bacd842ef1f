import type { Database, Session } from './database.ts'

/**
 * Runs statements as one tenant: in a transaction, as a role that row security binds, with `app.tenant` set for the
 * policies. Both end with the transaction, so the connection brings nothing of it to the next request. A statement
 * sees and changes rows of this tenant only, whatever it forgets to say. (It guards against mistakes. Who gets SQL
 * of his own into a statement could set another tenant: values belong into parameters.)
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

/** For the option `tenants`. Even this needs no WHERE: of all tenants a tenant sees itself. */
export async function tenantExists(database: Database, tenant: string): Promise<boolean> {
  const rows = await asTenant(database, tenant, (session) => session.query('select from tenants'))
  return rows.length === 1
}

/** Unless it is there already. Not for requests, whose role may not do it. */
export async function addTenant(database: Database, tenant: string): Promise<void> {
  await database.transaction(async (session) => {
    await setTenant(session, tenant)
    await session.query('insert into tenants (name) values ($1) on conflict do nothing', [tenant])
  })
}

/** A function, since SET takes no parameters; true: until the end of the transaction. */
async function setTenant(session: Session, tenant: string): Promise<void> {
  await session.query(`select set_config('app.tenant', $1, true)`, [tenant])
}
