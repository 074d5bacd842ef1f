import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { postgresDenyList } from '../../../../lib/entrypoints/revocation/index.ts'
import { revocationsSql } from '../../../../lib/entrypoints/revocation/postgres/table-source.ts'
import { codeBlocks } from '../../../helpers/documents/markdown.ts'
import { guide } from '../../../helpers/documents/pages.ts'
import { embeddedPool } from '../../../helpers/servers/embedded-database.ts'
import { tokenOf, verdictOf } from '../../../helpers/tokens/denied.ts'

const TABLE = 'tenant_auth_revocations'

/** The statements of .github/docs/guides/revocation.md for those who do not use `createTable`. */
const SHOWN = codeBlocks(guide('guides/revocation'))
const STATEMENTS =
  SHOWN.map(({ text }) => text).find((text) => text.startsWith(`CREATE TABLE ${TABLE}`)) ??
  assert.fail('the page on revocation shows no such table')

/** What the catalog says of a table, in the order of its names, without the rights in it. */
const CATALOG = {
  columns: `SELECT attnum, attname, atttypid::regtype::text AS type, attnotnull, attidentity,
      attgenerated, attcollation, pg_get_expr(adbin, adrelid) AS default
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum`,
  constraints: `SELECT conname, contype, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE conrelid = $1::regclass ORDER BY conname`,
  indexes: `SELECT indexname, indexdef
    FROM pg_indexes WHERE tablename = $1 ORDER BY indexname`,
  table: `SELECT relkind, relpersistence, relrowsecurity, relhastriggers, relhasrules, reloptions
    FROM pg_class WHERE oid = $1::regclass`,
}

const { db, pool } = await embeddedPool()
await db.exec('CREATE ROLE lunch_app')
after(() => db.close())

/** The catalog after a statement has made the table. */
async function catalogAfter(script: string) {
  await make(script)
  const parts: Record<string, unknown[]> = {}
  for (const [part, query] of Object.entries(CATALOG)) {
    parts[part] = (await db.query(query, [TABLE])).rows
  }
  return parts
}

async function make(script: string) {
  await db.exec(`RESET ROLE; DROP TABLE IF EXISTS ${TABLE}`)
  await db.exec(script)
}

test('the table on the page is the one that createTable makes', async () => {
  const expected = await catalogAfter(revocationsSql(TABLE).create)
  // Newer servers list NOT NULL among the constraints.
  const isRead = Object.values(expected).every((rows) => rows.length > 0)
  assert.deepEqual([isRead, expected['columns']?.length], [true, 9], 'the catalog is read')
  assert.deepEqual(await catalogAfter(STATEMENTS), expected)
})

/** The role of the application has the rights that the page gives, and no others. */
async function asApplication() {
  await make(STATEMENTS)
  await db.exec('SET ROLE lunch_app')
}

test('the rights that the page gives are enough to add, to read and to let go', async () => {
  await asApplication()
  const list = postgresDenyList({ pool })
  await db.query(`INSERT INTO ${TABLE} (jti, until) VALUES ('ended', now() - interval '2 days')`)
  await list.add({ sub: 'alice' })
  await list.ready()
  assert.deepEqual([verdictOf(list), verdictOf(list, tokenOf({ sub: 'bob' }))], [true, false])
  const { rows } = await db.query(`SELECT jti, sub FROM ${TABLE}`)
  assert.deepEqual(rows, [{ jti: null, sub: 'alice' }])
})

test('the rights that the page gives are no more than that', async () => {
  await asApplication()
  for (const what of [
    `UPDATE ${TABLE} SET until = now()`,
    `TRUNCATE ${TABLE}`,
    `DROP TABLE ${TABLE}`,
  ]) {
    await assert.rejects(db.query(what), { code: '42501' }, what)
  }
})

/** The lines of a statement's plan. An index is used wherever it can be. */
async function planOf(statement: string, values: readonly unknown[]): Promise<string[]> {
  await db.exec('SET enable_seqscan = off')
  const { rows } = await db.query(`EXPLAIN ${statement}`, [...values])
  await db.exec('RESET enable_seqscan')
  return rows.map((row) => String(Object(row)['QUERY PLAN']).trim())
}

const NOW = new Date().toISOString()

test('ended rows are found by the index, however many others there are', async () => {
  const { create, deleteEnded } = revocationsSql(TABLE)
  await make(create)
  const plan = await planOf(deleteEnded, [NOW])
  for (const condition of [
    'Index Cond: (until <',
    'Index Cond: ((until IS NULL) AND (added_at <',
  ]) {
    assert.equal(plan.filter((line) => line.startsWith(condition)).length, 1, condition)
  }
})

test('no time is computed for each of the rows that have ended, which a new process passes over', async () => {
  const { create, select } = revocationsSql(TABLE)
  await make(create)
  const plan = await planOf(select, ['0', '0', null, null, null, NOW, '86400'])
  const filters = plan.filter((line) => line.startsWith('Filter: ') && line.includes('until'))
  assert.deepEqual(filters, [
    'Filter: COALESCE((until >= here."dayAgo"), (added_at >= here."lifeAgo"))',
  ])
})
