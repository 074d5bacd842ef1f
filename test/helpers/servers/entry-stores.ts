import { Redis } from 'ioredis'
import pg from 'pg'
import { missing } from './commands.ts'
import { POSTGRESQL, startPostgresServer } from './postgres-server.ts'
import { RedisServer, withoutRedis } from './redis-server.ts'

/** A server that keeps entries, as a test handles it. The processes reach it by `url`. */
export interface EntryStore {
  readonly store: 'postgresql' | 'redis'
  readonly url: string
  readonly port: number
  start(): Promise<void>
  /** With SIGKILL. */
  kill(): Promise<void>
  /** Keeps an entry, as another program does. */
  addSilently(sub: string): Promise<void>
  /** Closes the connections of all processes, but not those of entries that are under way. */
  cutConnections(): Promise<void>
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
const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE usename = current_user AND pid <> pg_backend_pid() AND state <> 'idle in transaction'`

/** Its table is there as soon as a process has asked for entries. */
export async function startPostgresStore(): Promise<PostgresStore> {
  const server = await startPostgresServer()
  return {
    ...server,
    store: 'postgresql',
    addSilently: (sub) => onConnection(server.url, (client) => client.query(INSERT, [sub])),
    cutConnections: () => onConnection(server.url, (client) => client.query(CUT)),
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

const KEY = 'tenant-auth:revocations'

/** Its entries are on the disk before they are answered. */
async function startRedisStore(): Promise<EntryStore> {
  const server = await RedisServer.open(true)
  let copy: Buffer | null = null
  const cutConnections = () =>
    onRedis(server.url, (client) =>
      client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
    )
  return {
    store: 'redis',
    url: server.url,
    port: server.port,
    start: () => server.start(),
    kill: () => server.kill(),
    close: () => server.close(),
    addSilently: (sub) =>
      onRedis(server.url, async (client) => {
        const until = new Date(Date.now() + 3_600_000)
        await client.xadd(KEY, '*', 'entry', JSON.stringify({ sub, until }))
      }),
    cutConnections,
    backUp: () =>
      onRedis(server.url, async (client) => {
        copy = await client.dumpBuffer(KEY)
      }),
    restore: () =>
      onRedis(server.url, (client) =>
        copy === null ? client.del(KEY) : client.restore(KEY, 0, copy, 'REPLACE'),
      ),
  }
}

async function onRedis(url: string, run: (client: Redis) => Promise<unknown>): Promise<void> {
  const client = new Redis(url, { commandTimeout: 5000 })
  try {
    await run(client)
  } finally {
    client.disconnect()
  }
}

/** All kinds of servers that keep entries, and why they may be absent here. */
export const ENTRY_STORES = {
  postgresql: { skip: missing(...POSTGRESQL), start: startPostgresStore },
  redis: { skip: withoutRedis, start: startRedisStore },
} as const
