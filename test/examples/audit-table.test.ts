import assert from 'node:assert/strict'
import test, { after, type TestContext } from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { embeddedDatabase } from '../helpers/servers/embedded-database.ts'
import { AUDIT_TABLE, AuditTable } from './audit-table.ts'
import type { SqlDatabase } from './sql-database.ts'

const database = await embeddedDatabase()
after(() => database.close())
await database.exec(AUDIT_TABLE)
const authority = await createTestAuthority()
const HEADERS = await authority.headers({ sub: "d'ora", resources: { 'lazy-raccoon': [] } })

/** A guarded application whose decisions go to a table. The database can be made to fail. */
async function audited(t: TestContext) {
  await database.exec('TRUNCATE decisions')
  let fault: (() => Promise<never>) | undefined
  const failing: SqlDatabase = {
    query: (text, values) => fault?.() ?? database.query(text, values),
  }
  const failures: number[] = []
  const table = new AuditTable(failing, (_error, lost) => failures.push(lost), 600)
  table.open(60_000)
  const app = Fastify()
  t.after(async () => {
    await app.close()
    await table.close(0)
  })
  await app.register(tenantAuth, authority.options)
  app.get('/:tenant/menu', async () => ['soup'])
  const ask = async (tenant: string, headers = {}) =>
    (await app.inject({ url: `/${tenant}/menu`, headers })).statusCode
  const rows = async () => {
    const { rows } = await database.query<object>(
      'SELECT outcome, code, sub, tenant, method, route FROM decisions ORDER BY at',
    )
    return rows
  }
  const count = async () => {
    const { rows } = await database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM decisions',
    )
    return rows[0]?.count
  }
  return {
    table,
    failures,
    ask,
    rows,
    count,
    fail: (how: typeof fault) => {
      fault = how
    },
  }
}

const down = () => Promise.reject(new Error('the database is down'))

test('each decision is a row, refusals too', async (t) => {
  const { table, ask, rows } = await audited(t)
  await ask('lazy-raccoon', HEADERS)
  await ask('busy-beaver', HEADERS)
  await table.close()
  assert.deepEqual(await rows(), [
    {
      outcome: 'admitted',
      code: null,
      sub: "d'ora",
      tenant: 'lazy-raccoon',
      method: 'GET',
      route: '/:tenant/menu',
    },
    {
      outcome: 'refused',
      code: 'ERR_AUTH_TENANT_FORBIDDEN',
      sub: "d'ora",
      tenant: 'busy-beaver',
      method: 'GET',
      route: '/:tenant/menu',
    },
  ])
})

test('a name that PostgreSQL cannot keep stops no other row', async (t) => {
  const { table, ask, rows, failures } = await audited(t)
  for (const sub of ['a\0b', 'c\ud800', 'dora']) {
    await ask('lazy-raccoon', await authority.headers({ sub, resources: { 'lazy-raccoon': [] } }))
  }
  await table.close()
  const names = (await rows()).map((row) => Reflect.get(row, 'sub'))
  assert.deepEqual([names, failures], [['a\ufffdb', 'c\ufffd', 'dora'], []])
})

test('while the database is down requests go on, and their rows are written later', async (t) => {
  const { table, failures, ask, count, fail } = await audited(t)
  fail(down)
  assert.equal(await ask('lazy-raccoon', HEADERS), 200)
  assert.equal(await ask('lazy-raccoon'), 401)
  await table.write()
  assert.deepEqual(failures, [0])
  assert.equal(await count(), 0)
  fail(undefined)
  await table.write()
  assert.equal(await count(), 2)
})

test('what waits is bounded: beyond it rows are lost, and counted', async (t) => {
  const { table, failures, ask, count, fail } = await audited(t)
  fail(down)
  for (let i = 0; i < 603; i++) await ask('lazy-raccoon')
  await table.write()
  assert.deepEqual(failures, [3])
  fail(undefined)
  await table.write()
  assert.equal(await count(), 600)
})

test('a database that hangs holds up no request, and no shutdown', async (t) => {
  const { table, ask, fail } = await audited(t)
  fail(() => new Promise<never>(() => {}))
  await ask('lazy-raccoon')
  void table.write()
  assert.equal(await ask('lazy-raccoon', HEADERS), 200)
  await table.close(1)
})
