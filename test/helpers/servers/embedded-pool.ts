import type { PostgresPool } from '../../../lib/entrypoints/revocation/index.ts'
import { embeddedDatabase } from './embedded-database.ts'

/** A pool of the package pg, as far as a deny list needs one, to a PostgreSQL in this process. */
export async function embeddedPool() {
  const db = await embeddedDatabase()
  const pool: PostgresPool = {
    query: ({ text, values }) => db.query(text, values),
  }
  return { pool, db }
}
