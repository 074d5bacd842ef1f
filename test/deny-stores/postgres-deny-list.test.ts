import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { RevocationsTable } from '../../lib/deny-stores/revocations-table.ts'
import { type DenyEntry, type PostgresPool, postgresDenyList } from '../../lib/revocation.ts'
import { configError } from '../helpers/app/config-error.ts'
import { until } from '../helpers/processes/until.ts'
import { embeddedPool } from '../helpers/servers/embedded-pool.ts'
import { attend, HOUR, ISSUER_A, tokenOf, verdictOf } from '../helpers/tokens/denied.ts'

const TABLE = 'tenant_auth_revocations'
const END = new Date(Math.floor(Date.now() / 1000) * 1000 + HOUR)

describe('a deny list in PostgreSQL', () => {
  let embedded: Awaited<ReturnType<typeof embeddedPool>>
  before(async () => {
    embedded = await embeddedPool()
  })
  beforeEach(() => embedded.db.query(`DROP TABLE IF EXISTS ${TABLE}`))
  after(() => embedded.db.close())
  const make = () => postgresDenyList({ pool: embedded.pool, createTable: true, interval: 50 })
  const source = () => new RevocationsTable(embedded.pool, TABLE, true)

  it('what one process adds another one knows, at a message and not at the next interval', async (t) => {
    const [mine, other] = [make(), make()]
    const { told } = attend(t, other)
    await other.ready()
    // The connection that listens wakes too, when it is there.
    await new Promise((resolve) => setTimeout(resolve, 50))
    await mine.add({ sub: 'alice', issuer: ISSUER_A, issuedBefore: new Date(), until: END })
    await until(() => verdictOf(other) === true, 5000)
    assert.equal(verdictOf(other, tokenOf({ sub: 'bob' })), false)
    assert.equal(verdictOf(other, tokenOf({ issuedAt: new Date(Date.now() + HOUR) })), false)
    await mine.ready()
    assert.equal(mine.size(), 1, 'its own entry comes back as the same')
    assert.deepEqual(told, [])
  })

  const ENTRIES: DenyEntry[] = [
    { jti: 'token-1' },
    { sid: "'; DROP TABLE tenant_auth_revocations; --" },
    { sub: 'Ælfrēd 🐪', issuer: ISSUER_A },
    { issuer: ISSUER_A, issuedBefore: new Date(1_700_000_000_123) },
  ]

  it('an entry comes back as it was', async () => {
    const table = source()
    for (const entry of ENTRIES) await table.append({ ...entry, until: END })
    const { entries } = await table.changes(null)
    const nothing = { jti: null, sid: null, sub: null, issuer: null, issuedBefore: null }
    const came = entries.map(({ jti, sid, sub, issuer, issuedBefore, until }) => ({
      ...{ jti, sid, sub, issuer, issuedBefore, until },
    }))
    assert.deepEqual(
      came,
      ENTRIES.map(({ issuedBefore, ...entry }) => ({
        ...nothing,
        ...entry,
        ...(issuedBefore && { issuedBefore: issuedBefore.toISOString() }),
        until: END.toISOString(),
      })),
    )
  })

  const UNKEEPABLE = ['a\u0000b', '\u0000', 'a\ud800', '\udc00b', '\udc00\ud800']

  it('a name that no text can hold is refused before the server is asked', async () => {
    let asked = 0
    const query: PostgresPool['query'] = (question) => {
      asked += 1
      return embedded.pool.query(question)
    }
    const list = postgresDenyList({ pool: { ...embedded.pool, query }, createTable: true })
    for (const name of UNKEEPABLE) {
      for (const entry of [{ jti: name }, { sid: name }, { sub: name }, { issuer: name }]) {
        const refusal = { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' }
        await assert.rejects(list.add(entry), refusal, JSON.stringify(entry))
      }
      assert.equal(verdictOf(list, tokenOf({ jti: name })), true, 'it counts in this process')
    }
    assert.equal(asked, 0)
    assert.deepEqual((await source().changes(null)).entries, [])
  })

  it('neither the time zone nor the style of dates of a session changes a time', async () => {
    await embedded.db.exec(`SET TimeZone = 'America/St_Johns'; SET DateStyle = 'German'`)
    const table = source()
    await table.append({ jti: 'token-1', until: END })
    const [entry] = (await table.changes(null)).entries
    assert.equal(entry?.until, END.toISOString())
    await embedded.db.exec('RESET TimeZone; RESET DateStyle')
  })

  it('after a cursor, it tells what is new, and what may have been committed late', async () => {
    const table = source()
    await table.append({ jti: 'early', until: END })
    const { cursor } = await table.changes(null)
    const names = async () => (await table.changes(cursor)).entries.map(({ jti }) => jti)
    assert.deepEqual(await names(), [])
    await table.append({ jti: 'late', until: END })
    const insert = `INSERT INTO ${TABLE} (xid, jti, until) VALUES ($1::text::xid8, $2, $3)`
    // As a transaction does that was under way when the cursor was made.
    await embedded.db.query(insert, [cursor.xmin, 'slow', END])
    await embedded.db.query(insert, [String(BigInt(cursor.xmin) - 1n), 'over', END])
    assert.deepEqual((await names()).sort(), ['late', 'slow'])
    const next = await table.changes(cursor)
    assert.ok(BigInt(next.cursor.xmin) > BigInt(cursor.xmin), 'the cursor moves')
  })

  it('a cursor that is ahead of the server, or of another one, gets everything anew', async () => {
    const table = source()
    await table.append({ jti: 'early', until: END })
    const { cursor } = await table.changes(null)
    const ahead = { ...cursor, xmin: String(BigInt(cursor.xmin) + 1000n) }
    for (const odd of [ahead, { ...cursor, server: '1700000000.000000' }]) {
      assert.equal((await table.changes(odd)).entries.length, 1)
    }
  })

  it('rows that ended a day ago are neither told nor kept', async () => {
    const table = source()
    await table.changes(null)
    const insert = `INSERT INTO ${TABLE} (jti, until) VALUES ($1, now() - $2::interval)`
    await embedded.db.query(insert, ['yesterday', '23 hours'])
    await embedded.db.query(insert, ['before', '25 hours'])
    assert.deepEqual(
      (await table.changes(null)).entries.map(({ jti }) => jti),
      ['yesterday'],
    )
    await table.append({ jti: 'now', until: END })
    const { rows } = await embedded.db.query(`SELECT jti FROM ${TABLE} ORDER BY jti`)
    assert.deepEqual(rows, [{ jti: 'now' }, { jti: 'yesterday' }])
  })

  it('a server whose clock is days ahead neither hides nor deletes what has not ended', async () => {
    await embedded.db.exec(`CREATE SCHEMA ahead;
      CREATE FUNCTION ahead.now() RETURNS timestamptz STABLE
        RETURN pg_catalog.now() + interval '3 days';
      SET search_path = ahead, pg_catalog, public`)
    const table = new RevocationsTable(embedded.pool, `public.${TABLE}`, true)
    for (const jti of ['first', 'second']) await table.append({ jti, until: END })
    const told = (await table.changes(null)).entries.map(({ jti }) => jti)
    await embedded.db.exec('RESET search_path; DROP SCHEMA ahead CASCADE')
    assert.deepEqual(told, ['first', 'second'])
  })

  it('a process whose clock is days ahead hides nothing that lasts by that of the server', async (t) => {
    const table = source()
    await table.append({ jti: 'first', until: END })
    const now = Date.now() + 72 * HOUR
    // The embedded server has the clock of this process.
    const query: PostgresPool['query'] = (question) => {
      t.mock.timers.reset()
      return embedded.pool.query(question)
    }
    const ahead = new RevocationsTable({ ...embedded.pool, query }, TABLE, false)
    t.mock.timers.enable({ apis: ['Date'], now })
    const { entries } = await ahead.changes(null)
    assert.deepEqual(
      entries.map(({ jti }) => jti),
      ['first'],
    )
  })

  it('an entry is kept even where ended ones cannot be deleted', async () => {
    const pool: PostgresPool = {
      ...embedded.pool,
      query: async (question) => {
        assert.ok(!question.text.startsWith('DELETE'), 'on purpose')
        return embedded.pool.query(question)
      },
    }
    await postgresDenyList({ pool, createTable: true }).add({ jti: 'token-1' })
    assert.equal((await source().changes(null)).entries.length, 1)
  })

  it('each question has a limit, beyond which its connection is closed', async () => {
    const limits: number[] = []
    const pool: PostgresPool = {
      ...embedded.pool,
      query: async (question) => {
        limits.push(question.query_timeout)
        return embedded.pool.query(question)
      },
    }
    const list = postgresDenyList({ pool, createTable: true })
    await list.add({ jti: 'token-1' })
    await list.ready()
    assert.deepEqual(limits, [10_000, 10_000, 10_000, 10_000])
  })

  it('without createTable the table must be there, and may stand in a schema', async () => {
    const list = postgresDenyList({ pool: embedded.pool })
    await assert.rejects(list.ready(), { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
    await embedded.db.exec('CREATE SCHEMA IF NOT EXISTS auth')
    const inSchema = { pool: embedded.pool, table: 'auth.revoked' }
    for (let again = 0; again < 2; again++) {
      await postgresDenyList({ ...inSchema, createTable: true }).add({ sub: 'alice' })
    }
    const other = postgresDenyList(inSchema)
    await other.ready()
    assert.equal(verdictOf(other), true)
  })

  const NO_ROWS = [
    ['jti, until', `NULL, now()`],
    ['jti, until', `'a', 'infinity'`],
    ['jti, until', `'a', '10000-01-01Z'`],
    ['jti, until, issued_before', `'a', now(), '-infinity'`],
  ]

  it('the table refuses rows that would not be readable', async () => {
    await source().changes(null)
    for (const [columns, values] of NO_ROWS) {
      const insert = `INSERT INTO ${TABLE} (${columns}) VALUES (${values})`
      await assert.rejects(embedded.db.query(insert), /violates check constraint/, values)
    }
  })

  it('an answer of a pool that is none is a failure', async () => {
    for (const rows of [[], [null], [{ until: null, server: 1, xmin: '1' }]]) {
      const pool = { ...embedded.pool, query: async () => ({ rows }) }
      await assert.rejects(postgresDenyList({ pool }).ready())
    }
  })
})

const pool = { query: async () => ({ rows: [] }), connect: () => assert.fail('not now') }

const BAD: [what: string, options: unknown, message: RegExp][] = [
  ['nothing', undefined, /^options: expected an object, found undefined/],
  ['no pool', {}, /^pool: expected a pool/],
  ['a pool that is none', { pool: { query: pool.query } }, /^pool: expected a pool/],
  ['an address', { pool: 'postgres://localhost' }, /^pool: expected a pool/],
  ['an empty table', { pool, table: '' }, /^table: expected a lower-case SQL identifier/],
  ['an undefined table', { pool, table: undefined }, /^table: expected/],
  ['a table in quotes', { pool, table: '"a"' }, /^table: expected/],
  ['a table with more', { pool, table: 'a; DROP TABLE b' }, /^table: expected/],
  ['a table with a line', { pool, table: 'a\n' }, /^table: expected/],
  ['a table in upper case', { pool, table: 'Revoked' }, /^table: expected/],
  ['a table in a database', { pool, table: 'a.b.c' }, /^table: expected/],
  ['a long table', { pool, table: 'a'.repeat(64) }, /^table: expected/],
  ['createTable as a text', { pool, createTable: 'yes' }, /^createTable: expected a boolean/],
  ['a rule of denyList', { pool, interval: 0 }, /^interval: expected seconds/],
  ['changes', { pool, changes: () => {} }, /^changes: expected one of pool, table/],
]

for (const [what, options, message] of BAD) {
  it(`postgresDenyList refuses ${what}`, () => {
    assert.throws(
      () => Reflect.apply(postgresDenyList, undefined, [options]),
      configError(message, '(postgresDenyList())'),
    )
  })
}
