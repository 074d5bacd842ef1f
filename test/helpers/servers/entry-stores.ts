import pg from 'pg'
import { missing } from './commands.ts'
import { POSTGRESQL, startPostgresServer } from './postgres-server.ts'

/** A server that keeps entries, as a test handles it. The processes reach it by `url`. */
export interface EntryStore {
  readonly store: keyof typeof ENTRY_STORES
  readonly url: string
  readonly port: number
  start(): Promise<void>
  /** With SIGKILL. */
  kill(): Promise<void>
  /** Keeps an entry, and tells no process of it. */
  addSilently(sub: string): Promise<void>
  /** Closes the connections on which processes wait for messages. */
  cutListeners(): Promise<void>
  /** Adds an entry, and leaves its transaction open. Absent where there are no transactions. */
  begin?(sub: string): Promise<OpenEntry>
  /** Keeps a copy of all data. */
  backUp(): Promise<void>
  /** Takes the data of that copy in the place of its own. */
  restore(): Promise<void>
  close(): Promise<void>
}

/** An entry of PostgreSQL whose transaction is under way. */
export interface OpenEntry {
  commit(): Promise<void>
}

export interface PostgresStore extends EntryStore {
  readonly password: string
  begin(sub: string): Promise<OpenEntry>
}

const INSERT = `INSERT INTO tenant_auth_revocations (sub, until) VALUES ($1, now() + interval '1 h')`
const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'`

/** Its table is there as soon as a process has asked for entries. */
export async function startPostgresStore(): Promise<PostgresStore> {
  const server = await startPostgresServer()
  return {
    ...server,
    store: 'postgresql',
    addSilently: (sub) => onConnection(server.url, (client) => client.query(INSERT, [sub])),
    cutListeners: () => onConnection(server.url, (client) => client.query(CUT)),
    async begin(sub) {
      const client = await connect(server.url)
      await client.query('BEGIN')
      await client.query(INSERT, [sub])
      return {
        commit: async () => {
          await client.query('COMMIT')
          await client.end()
        },
      }
    },
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  // It is lost where the server is killed.
  client.on('error', () => {})
  await client.connect()
  return client
}

async function onConnection(
  url: string,
  run: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = await connect(url)
  try {
    await run(client)
  } finally {
    await client.end().catch(() => {})
  }
}

/** All kinds of servers that keep entries, and why they may be absent here. */
export const ENTRY_STORES = {
  postgresql: { skip: missing(...POSTGRESQL), start: startPostgresStore },
} as const
