import type { Resources, TokenUser } from '../../../lib/index.ts'
import { asTenant } from './as-tenant.ts'
import type { Database, Session } from './database.ts'

/** A user is the pair: another issuer may have another user of the same `sub`. */
export interface User {
  readonly issuer: string
  readonly sub: string
}

/**
 * For the option `resourcesOf`. It is asked before a tenant is known: as a role that may read this
 * table only, and of this table the rows of one user. Role and settings end with the transaction.
 */
export async function resourcesOf(
  database: Database,
  { issuer, sub }: TokenUser,
): Promise<Resources | null> {
  const rows = await database.transaction(async (session) => {
    await session.query('set local role lunch_rights')
    await session.query(
      `select set_config('app.issuer', $1, true), set_config('app.sub', $2, true)`,
      [issuer, sub],
    )
    return session.query<{ tenant: string; resources: string[] }>(
      'select tenant, resources from memberships',
    )
  })
  if (rows.length === 0) return null
  return Object.fromEntries(rows.map(({ tenant, resources }) => [tenant, resources]))
}

/** Makes a user a member of the session's tenant, with these rights and no others. */
export function putMember({ issuer, sub }: User, resources: readonly string[]) {
  return async ({ query }: Session): Promise<void> => {
    await query(
      `insert into memberships (issuer, sub, resources) values ($1, $2, $3)
        on conflict (issuer, sub, tenant) do update set resources = excluded.resources`,
      [issuer, sub, resources],
    )
  }
}

/** Returns whether the user was a member of the session's tenant. */
export function deleteMember({ issuer, sub }: User) {
  return async ({ query }: Session): Promise<boolean> => {
    const deleted = await query(
      'delete from memberships where issuer = $1 and sub = $2 returning tenant',
      [issuer, sub],
    )
    return deleted.length === 1
  }
}

/** As an operator does for the first member of a tenant, who adds the others by requests. */
export function addMember(
  database: Database,
  tenant: string,
  user: User,
  resources: readonly string[],
): Promise<void> {
  return asTenant(database, tenant, putMember(user, resources))
}
