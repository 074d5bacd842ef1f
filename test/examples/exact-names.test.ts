import assert from 'node:assert/strict'
import { test } from 'node:test'
import { citext } from '@electric-sql/pglite/contrib/citext'
import { guardedApp } from '../helpers/app/guarded-app.ts'
import { embeddedDatabase } from '../helpers/servers/embedded-database.ts'
import { isTenant } from './exact-names.ts'

test('a name in another case is no tenant, although the database finds its row', async (t) => {
  const database = await embeddedDatabase({ extensions: { citext } })
  t.after(() => database.close())
  await database.exec(`create extension citext;
    create table tenants (name citext primary key);
    insert into tenants values ('acme')`)
  const { rows } = await database.query(`select name from tenants where name = 'ACME'`)
  assert.equal(rows.length, 1)

  const app = await guardedApp(t, { tenants: (tenant) => isTenant(database, tenant) })
  const config = { tenant: 'required', guests: true } as const
  app.get('/:tenant/menu', { config }, async ({ tenant }) => tenant)
  const statuses = []
  for (const tenant of ['acme', 'ACME', 'Acme']) {
    statuses.push((await app.inject(`/${tenant}/menu`)).statusCode)
  }
  assert.deepEqual(statuses, [200, 404, 404])
})
