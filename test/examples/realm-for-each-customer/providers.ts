import { readFile } from 'node:fs/promises'
import type { IssuerRules } from '../../../lib/index.ts'
import type { SqlDatabase } from '../sql-database.ts'

interface Provider {
  readonly issuer: string
  readonly tenants: string[]
  readonly audience: string
  /** `null`: the keys are discovered. */
  readonly public_keys_url: string | null
}

/** Makes the table, if it is not there yet. */
export async function createSchema(database: SqlDatabase): Promise<void> {
  await database.query(await readFile(new URL('schema.sql', import.meta.url), 'utf8'))
}

/** The rules of a customer's identity provider; `null`: no customer has brought it. */
export async function providerOf(
  database: SqlDatabase,
  issuer: string,
): Promise<IssuerRules | null> {
  const { rows } = await database.query<Provider>(
    'select tenants, audience, public_keys_url from identity_provider where issuer = $1',
    [issuer],
  )
  const [row] = rows
  if (row === undefined) return null
  // One by one: a column that the table gets later must not become a rule.
  const { tenants, audience, public_keys_url: publicKeysUrl } = row
  return { tenants, audience, ...(publicKeysUrl !== null && { publicKeysUrl }) }
}

export async function addProvider(database: SqlDatabase, provider: Provider): Promise<void> {
  const { issuer, tenants, audience, public_keys_url: publicKeysUrl } = provider
  await database.query(
    `insert into identity_provider (issuer, tenants, audience, public_keys_url)
       values ($1, $2, $3, $4)`,
    [issuer, tenants, audience, publicKeysUrl],
  )
}

export async function removeProvider(database: SqlDatabase, issuer: string): Promise<void> {
  await database.query('delete from identity_provider where issuer = $1', [issuer])
}
