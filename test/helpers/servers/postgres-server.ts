import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { findCommand, serverUser } from './commands.ts'
import { freePort, OwnServer, serverFolder } from './own-server.ts'

/** What a test needs to have a PostgreSQL server of its own. */
export const POSTGRESQL = ['initdb', 'postgres']

export interface PostgresServer {
  /** Of a user who may create databases and roles, and is no superuser: row security binds it. */
  readonly url: string
  readonly port: number
  readonly password: string
  start(): Promise<void>
  /** With SIGKILL. */
  kill(): Promise<void>
  /** Keeps a copy of all data. The server is down meanwhile. */
  backUp(): Promise<void>
  /** Takes the data of that copy in the place of its own. */
  restore(): Promise<void>
  close(): Promise<void>
}

/** A PostgreSQL server on loopback, with data of its own. */
export async function startPostgresServer(): Promise<PostgresServer> {
  const folder = serverFolder()
  const [data, copy] = [join(folder, 'data'), join(folder, 'copy')]
  const password = randomUUID()
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o644 })
  run('initdb', folder, [
    `--pgdata=${data}`,
    '--username=postgres',
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--no-sync',
  ])
  const port = await freePort()
  const address = (user: string) => `postgres://${user}:${password}@127.0.0.1:${port}/postgres`
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'shared_buffers=16MB']
  const server = new OwnServer(folder, {
    command: 'postgres',
    args: ['-D', data, '-p', `${port}`, ...settings.flatMap((setting) => ['-c', setting])],
    ask: () => ask(address('postgres'), 'select 1'),
  })
  await server.start()
  await ask(
    address('postgres'),
    `create role tests login createdb createrole password '${password}';
      grant all on schema public to tests`,
  )
  return {
    url: address('tests'),
    port,
    password,
    start: () => server.start(),
    kill: () => server.kill(),
    backUp: async () => {
      await server.stop('SIGINT')
      copyData(data, copy)
      await server.start()
    },
    restore: async () => {
      await server.stop('SIGINT')
      copyData(copy, data)
      await server.start()
    },
    close: () => server.close(),
  }
}

/** One statement on a connection of its own. */
async function ask(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  // The server may be killed meanwhile: the statement fails then.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end().catch(() => {})
  }
}

/** As the user who owns the data. */
function copyData(from: string, to: string): void {
  rmSync(to, { recursive: true, force: true })
  run('cp', '/', ['-a', from, to])
}

function run(command: string, cwd: string, args: readonly string[]): void {
  const path = findCommand(command) ?? assert.fail(`${command} is not installed`)
  execFileSync(path, args, { cwd, stdio: 'pipe', ...serverUser() })
}
