import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { freePort, OwnServer, serverFolder } from './own-server.ts'
import type { PostgresServer } from './postgres-server.ts'

/** What a test needs to have a connection pooler. */
export const POOLER = ['pgbouncer']

/**
 * A pooler that lends a connection of the server for one transaction each. So the `LISTEN` of a
 * client is swallowed: its messages come to a connection that is lent to no client, or to another.
 */
export async function startPooler(server: Pick<PostgresServer, 'port' | 'password'>) {
  const folder = serverFolder()
  const port = await freePort()
  const users = join(folder, 'users.txt')
  writeFileSync(users, `"tests" "${server.password}"\n`, { mode: 0o644 })
  const config = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${server.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    'default_pool_size = 4',
  ]
  writeFileSync(config, lines.join('\n'), { mode: 0o644 })
  const url = `postgres://tests:${server.password}@127.0.0.1:${port}/postgres`
  const pooler = new OwnServer(folder, {
    command: 'pgbouncer',
    args: [config],
    ask: async () => {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.query('select 1')
      } finally {
        await client.end().catch(() => {})
      }
    },
  })
  await pooler.start()
  return { url, close: () => pooler.close() }
}
