import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import { errors } from '../../../lib/index.ts'
import { addTenant, asTenant } from '../tenants-in-a-database/as-tenant.ts'
import { createSchema, openDatabase } from '../tenants-in-a-database/database.ts'
import { createApp } from './app.ts'
import { dishNames } from './as-current-tenant.ts'
import { createQueue, runJobs } from './queue.ts'

const authority = await createTestAuthority()
const TENANTS = ['lazy-raccoon', 'busy-beaver']

const database = await openDatabase()
await createSchema(database)
await createQueue(database)
// The second call is like a second start.
await createQueue(database)
for (const tenant of TENANTS) {
  await addTenant(database, tenant)
  await asTenant(database, tenant, ({ query }) =>
    query('insert into dishes (name) values ($1), ($2)', ['soup', `${tenant} special`]),
  )
}

const printed: [tenant: string, dishes: readonly string[]][] = []
const print = (tenant: string, dishes: readonly string[]) => void printed.push([tenant, dishes])
const { app, work } = await createApp(database, print, authority.options)
const headers = await authority.headers({
  resources: Object.fromEntries(TENANTS.map((tenant) => [tenant, ['dish:read']])),
})
const ask = (method: 'GET' | 'POST', url: string) => app.inject({ method, url, headers })

beforeEach(() => {
  printed.length = 0
})
after(async () => {
  await app.close()
  await database.close()
})

test('a job sees the rows of the tenant whose request has added it, and no others', async () => {
  for (const tenant of [...TENANTS, ...TENANTS.toReversed()]) {
    assert.equal((await ask('POST', `/${tenant}/menu-cards`)).statusCode, 202)
  }
  await work()
  assert.deepEqual(
    printed,
    [...TENANTS, ...TENANTS.toReversed()].map((tenant) => [tenant, ['soup', `${tenant} special`]]),
  )
  await work()
  assert.equal(printed.length, 4, 'each job ran once')
})

test('a request sees the rows of its tenant by the same function', async () => {
  const answers = await Promise.all(TENANTS.map((tenant) => ask('GET', `/${tenant}/dishes`)))
  assert.deepEqual(
    answers.map((answer) => answer.json()),
    TENANTS.map((tenant) => ['soup', `${tenant} special`]),
  )
})

test('code that runs for no tenant sees nothing, the worker between its jobs neither', async () => {
  await assert.rejects(dishNames(database), /no tenant/)
  await ask('POST', '/busy-beaver/menu-cards')
  const seen: string[][] = []
  await runJobs(app.authService, database, async () => void seen.push(await dishNames(database)))
  assert.deepEqual(seen, [['soup', 'busy-beaver special']])
  await assert.rejects(dishNames(database), /no tenant/)
})

test('a job of a kind that has no rights may do nothing', async () => {
  await asTenant(database, 'busy-beaver', ({ query }) =>
    query(`insert into jobs (kind) values ('bills')`),
  )
  await assert.rejects(work(), errors.ERR_AUTH_RESOURCE_MISSING)
  assert.deepEqual(printed, [])
})

test('a request adds no job for another tenant, and reads no jobs', async () => {
  for (const statement of [
    `insert into jobs (tenant, kind) values ('busy-beaver', 'menu-card')`,
    'select * from jobs',
  ]) {
    await assert.rejects(
      asTenant(database, 'lazy-raccoon', ({ query }) => query(statement)),
      { code: '42501' },
    )
  }
})

test('a job of a tenant that is gone does not run', async () => {
  await addTenant(database, 'gone-gecko')
  await asTenant(database, 'gone-gecko', ({ query }) =>
    query(`insert into jobs (kind) values ('menu-card')`),
  )
  await database.script('alter table jobs drop constraint jobs_tenant_fkey')
  await database.script(`delete from tenants where name = 'gone-gecko'`)
  await assert.rejects(
    runJobs(app.authService, database, async () => void printed.push(['gone-gecko', []])),
    errors.ERR_AUTH_TENANT_UNKNOWN,
  )
  assert.deepEqual(printed, [])
})
