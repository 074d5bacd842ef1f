import { createHash, randomBytes } from 'node:crypto'
import type { SqlDatabase } from './sql-database.ts'

/** What a key may do: in one tenant only. */
export interface KeyRights {
  readonly tenant: string
  readonly resources: readonly string[]
}

const TABLE = `
  create table if not exists api_key (
    id integer generated always as identity primary key,
    hash bytea not null unique,
    tenant text not null check (tenant not in ('', '*')),
    resources text[] not null
  )`

/** The prefix lets scanners of source code find keys that have leaked. */
const API_KEY = /^lunch_[\w-]{43}$/

/** Keys of machines, which stand where the JWTs of users stand. */
export class ApiKeys {
  readonly #database: SqlDatabase
  readonly #claims: { readonly iss: string; readonly aud: string }

  /** @param claims the issuer and the audience that the guard expects */
  constructor(
    database: SqlDatabase,
    claims: { readonly issuer: string; readonly audience: string },
  ) {
    this.#database = database
    this.#claims = { iss: claims.issuer, aud: claims.audience }
  }

  /** Makes the table, if it is not there yet. */
  async createSchema(): Promise<void> {
    await this.#database.query(TABLE)
  }

  /** The key is shown here, and never again. */
  async create({ tenant, resources }: KeyRights): Promise<{ id: number; key: string }> {
    const key = `lunch_${randomBytes(32).toString('base64url')}`
    const { rows } = await this.#database.query<{ id: number }>(
      'insert into api_key (hash, tenant, resources) values ($1, $2, $3) returning id',
      [hashOf(key), tenant, resources],
    )
    const [row] = rows
    if (row === undefined) throw new Error('the key was not stored')
    return { id: row.id, key }
  }

  async revoke(id: number): Promise<void> {
    await this.#database.query('delete from api_key where id = $1', [id])
  }

  /** For the option `opaqueToken`. */
  readonly claimsOf = async (token: string): Promise<Record<string, unknown> | null> => {
    // What is no key of ours is not worth a query.
    if (!API_KEY.test(token)) return null
    const { rows } = await this.#database.query<KeyRights & { id: number }>(
      'select id, tenant, resources from api_key where hash = $1',
      [hashOf(token)],
    )
    const [row] = rows
    if (row === undefined) return null
    const { id, tenant, resources } = row
    // A prefix that no user's `sub` has.
    return { ...this.#claims, sub: `api-key:${id}`, resources: { [tenant]: resources } }
  }
}

/**
 * A slow hash with a salt makes guesses dear, which protects passwords. A key has 256 random bits:
 * no guess hits it, so that a fast hash is enough, and finds the row by its index.
 */
function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}
