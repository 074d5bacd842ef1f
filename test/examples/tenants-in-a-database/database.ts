import { readFile } from 'node:fs/promises'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'

export interface Session {
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
}

/**
 * All of a database that this application needs. It offers no way to work outside a transaction.
 */
export interface Database {
  transaction<Result>(run: (session: Session) => Promise<Result>): Promise<Result>
  /** Several statements without values. */
  script(text: string): Promise<void>
  close(): Promise<void>
}

/**
 * A PostgreSQL server if there is an address. Otherwise one inside this process, empty at each
 * start.
 */
export function openDatabase(url?: string): Promise<Database> {
  return url ? openServer(url) : openEmbedded()
}

/** Creates the tables, the role and the policies, if they are not there yet. */
export async function createSchema(database: Database): Promise<void> {
  await database.script(await readFile(new URL('schema.sql', import.meta.url), 'utf8'))
}

async function openEmbedded(): Promise<Database> {
  const db = await PGlite.create()
  return {
    transaction: (run) =>
      db.transaction((tx) =>
        run({
          query: async <Row>(text: string, values?: unknown[]) =>
            (await tx.query<Row>(text, values)).rows,
        }),
      ),
    script: async (text) => void (await db.exec(text)),
    close: () => db.close(),
  }
}

async function openServer(url: string): Promise<Database> {
  const pool = new pg.Pool({ connectionString: url, max: 4 })
  // A connection that is not in use may break. The pool replaces it.
  pool.on('error', () => {})
  return {
    transaction: async (run) => {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const result = await run({
          query: async (text, values) => (await client.query(text, values)).rows,
        })
        await client.query('commit')
        client.release()
        return result
      } catch (error) {
        // A connection that cannot even roll back is thrown away, together with its state.
        const isClean = await client.query('rollback').then(
          () => true,
          () => false,
        )
        client.release(!isClean)
        throw error
      }
    },
    script: async (text) => void (await pool.query(text)),
    close: () => pool.end(),
  }
}
