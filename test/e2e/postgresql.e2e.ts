import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import pg from 'pg'
import { addTenant, asTenant } from '../examples/tenants-in-a-database/as-tenant.ts'
import {
  createSchema,
  type Database,
  openDatabase,
} from '../examples/tenants-in-a-database/database.ts'
import { describeTenantsIn } from '../helpers/processes/database-suite.ts'
import { describeMembershipsIn } from '../helpers/processes/membership-suite.ts'
import { missing } from '../helpers/servers/commands.ts'
import { POSTGRESQL, startPostgresServer } from '../helpers/servers/postgres-server.ts'

/** A server whose user may create databases and roles; not given: one of this test's own. */
const given = process.env['DATABASE_URL'] ?? ''
const skip = given === '' && missing(...POSTGRESQL)

if (skip !== false) {
  it('tenants in a PostgreSQL server', { skip })
} else {
  const own = given === '' ? await startPostgresServer() : undefined
  const server = own?.url ?? given
  after(() => own?.close())
  describeTenantsIn('a PostgreSQL server', () => openScratchDatabase(server))
  describeMembershipsIn('a PostgreSQL server', () => openScratchDatabase(server))

  describe('the owner of the tables', () => {
    let database: Database
    before(async () => {
      database = await openScratchDatabase(server)
    })
    after(() => database.close())

    it('sees nothing without a tenant, unless it is a superuser', async (t) => {
      await addTenant(database, 'lazy-raccoon')
      await asTenant(database, 'lazy-raccoon', ({ query }) =>
        query(`insert into dishes (name) values ('soup')`),
      )
      const [owner, rows] = await database.transaction(async ({ query }) => [
        await query('select rolsuper from pg_roles where rolname = current_user'),
        await query('select * from dishes'),
      ])
      if (owner?.[0]?.['rolsuper'] === true) return t.skip('DATABASE_URL names a superuser')
      assert.deepEqual(rows, [])
    })
  })
}

/** A database of its own on the server. It is dropped at the end. */
async function openScratchDatabase(url: string): Promise<Database> {
  const name = `lunch_${randomUUID().replaceAll('-', '')}`
  await runAlone(url, `create database ${name}`)
  const scratch = new URL(url)
  scratch.pathname = `/${name}`
  const database = await openDatabase(scratch.href)
  await createSchema(database)
  // The second call is like a second start.
  await createSchema(database)
  return {
    ...database,
    close: async () => {
      await database.close()
      await runAlone(url, `drop database ${name}`)
    },
  }
}

async function runAlone(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
