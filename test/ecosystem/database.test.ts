import assert from 'node:assert/strict'
import { it } from 'node:test'
import {
  createSchema,
  type Database,
  openDatabase,
} from '../examples/tenants-in-a-database/database.ts'
import { describeTenantsIn } from '../helpers/processes/database-suite.ts'
import { describeMembershipsIn } from '../helpers/processes/membership-suite.ts'
import { LOADER, programFile } from '../helpers/processes/program.ts'
import { runExample } from '../helpers/processes/running-example.ts'
import '../helpers/servers/prepared-database.ts'

const PREPARED = programFile('test/helpers/servers/prepared-database.ts')

describeTenantsIn('an embedded PostgreSQL', openEmbedded)
describeMembershipsIn('an embedded PostgreSQL', openEmbedded)

it('the example starts, does what it prints, and ends by SIGTERM', async (t) => {
  const start = 'test/examples/tenants-in-a-database/start.ts'
  const NODE_OPTIONS = [...LOADER, '--import', PREPARED].join(' ')
  const env = { PORT: '0', DATABASE_URL: '', NODE_OPTIONS }
  const { child, printed, until, ended } = runExample(t, [start], env)
  await until('gone-gecko')
  const [address = ''] = /http:[^,]*/.exec(printed.stdout) ?? []
  const dishes = (tenant: string, init: RequestInit = {}) =>
    fetch(`${address}/${tenant}/dishes`, init)

  const body = JSON.stringify({ name: 'soup' })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  assert.equal((await dishes('lazy-raccoon', init)).status, 201)
  assert.equal((await dishes('busy-beaver', init)).status, 403)
  assert.deepEqual(await (await dishes('lazy-raccoon')).json(), [{ id: 1, name: 'soup' }])
  assert.deepEqual(await (await dishes('busy-beaver')).json(), [])
  assert.equal((await dishes('gone-gecko')).status, 404)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
})

async function openEmbedded(): Promise<Database> {
  const database = await openDatabase()
  await createSchema(database)
  // The second call is like a second start.
  await createSchema(database)
  return database
}
