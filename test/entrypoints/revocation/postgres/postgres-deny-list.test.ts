import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { inspect } from 'node:util'
import {
  type KeptEntry,
  type PostgresPool,
  postgresDenyList,
} from '../../../../lib/entrypoints/revocation/index.ts'
import { tableSource } from '../../../../lib/entrypoints/revocation/postgres/table-source.ts'
import { clock } from '../../../../lib/platform/runtime/clock.ts'
import { errorCode } from '../../../../lib/platform/runtime/error.ts'
import { configError } from '../../../helpers/app/config-error.ts'
import { until } from '../../../helpers/processes/until.ts'
import { embeddedPool } from '../../../helpers/servers/embedded-database.ts'
import {
  attend,
  HOUR,
  ISSUER_A,
  SECOND,
  tokenOf,
  verdictOf,
} from '../../../helpers/tokens/denied.ts'

type Table = ReturnType<typeof tableSource>
type Read = Awaited<ReturnType<Table['changes']>>

const TABLE = 'tenant_auth_revocations'
const END = new Date(Math.floor(Date.now() / 1000) * 1000 + HOUR)

describe('a deny list in PostgreSQL', () => {
  let embedded: Awaited<ReturnType<typeof embeddedPool>>
  before(async () => {
    embedded = await embeddedPool()
  })
  beforeEach(() => embedded.db.query(`DROP TABLE IF EXISTS ${TABLE}`))
  after(() => embedded.db.close())
  const make = () => postgresDenyList({ pool: embedded.pool, createTable: true })
  const source = (pool: PostgresPool = embedded.pool) => tableSource(pool, TABLE, true, 86_400)

  it('what one process adds another one knows within a second', async (t) => {
    const [mine, other] = [make(), make()]
    const { logged } = attend(t, other)
    await other.ready()
    await mine.add({ sub: 'alice', issuer: ISSUER_A, issuedBefore: new Date(), until: END })
    await until(() => verdictOf(other) === true, 5000)
    assert.equal(verdictOf(other, tokenOf({ sub: 'bob' })), false)
    assert.equal(verdictOf(other, tokenOf({ issuedAt: new Date(Date.now() + HOUR) })), false)
    await mine.ready()
    assert.equal(mine.size(), 1, 'its own entry comes back as the same')
    assert.deepEqual(logged, [])
  })

  const ENTRIES: KeptEntry[] = [
    { jti: 'token-1' },
    { sid: "'; DROP TABLE tenant_auth_revocations; --" },
    { sub: 'Ælfrēd 🐪', issuer: ISSUER_A },
    { sub: 'alice', issuer: '' },
    { issuer: ISSUER_A, issuedBefore: new Date(1_700_000_000_123) },
  ]

  /** The rows that a cursor leaves to be read, all pages of them. */
  const read = async (table: Table, from: Read['cursor'] | null = null) => {
    const rows: Record<string, unknown>[] = []
    let cursor = from
    for (let hasMore = true; hasMore; ) {
      const page = await table.changes(cursor)
      rows.push(...[...page.entries].map(Object))
      cursor = page.cursor
      hasMore = page.hasMore === true
    }
    return { rows, cursor, names: rows.map(({ jti }) => jti) }
  }

  it('an entry comes back as it was', async () => {
    const table = source()
    for (const entry of ENTRIES) await table.append({ ...entry, until: END })
    const { rows } = await read(table)
    const nothing = { jti: null, sid: null, sub: null, issuer: null, issuedBefore: null }
    const came = rows.map(({ jti, sid, sub, issuer, issuedBefore, until }) => ({
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
    assert.deepEqual((await read(source())).rows, [])
  })

  it('neither the time zone nor the style of dates of a session changes a time', async () => {
    await embedded.db.exec(`SET TimeZone = 'America/St_Johns'; SET DateStyle = 'German'`)
    const table = source()
    await table.append({ jti: 'token-1', until: END })
    const [entry] = (await read(table)).rows
    assert.equal(entry?.['until'], END.toISOString())
    await embedded.db.exec('RESET TimeZone; RESET DateStyle')
  })

  it('after a cursor, it returns new rows, and those that may have been committed late', async () => {
    const table = source()
    await table.append({ jti: 'early', until: END })
    // As while a transaction is under way that has a number, and has not inserted yet.
    const { rows } = await embedded.db.query(`SELECT xid::text AS xid FROM ${TABLE}`)
    const late = BigInt(Object(rows[0]).xid) - 1n
    const query: PostgresPool['query'] = async (question) => {
      const answer = await embedded.pool.query(question)
      return { rows: answer.rows.map((row) => ({ ...Object(row), xmin: `${late}` })) }
    }
    const { cursor } = await read(source({ query }))
    assert.deepEqual((await read(table, cursor)).names, ['early'], 'it may be returned again')
    await table.append({ jti: 'new', until: END })
    const insert = `INSERT INTO ${TABLE} (xid, jti, until) VALUES ($1::text::xid8, $2, $3)`
    await embedded.db.query(insert, [`${late}`, 'slow', END])
    await embedded.db.query(insert, [`${late - 1n}`, 'over', END])
    assert.deepEqual((await read(table, cursor)).names, ['slow', 'early', 'new'])
    const next = await read(table, cursor)
    assert.deepEqual((await read(table, next.cursor)).names, [], 'nothing is under way')
  })

  it('a cursor is none of a server that lost the newest row, has another one, or is behind', async () => {
    const table = source()
    for (const jti of ['first', 'second']) await table.append({ jti, until: END })
    const { cursor } = await read(table)
    const update = (what: string) => embedded.db.query(`UPDATE ${TABLE} SET ${what}`)
    assert.deepEqual((await read(table, cursor)).names, [])
    await update(`added_at = added_at + interval '1 microsecond' WHERE jti = 'second'`)
    assert.deepEqual((await read(table, cursor)).names, ['first', 'second'])
    await update(`added_at = added_at - interval '1 microsecond' WHERE jti = 'second'`)
    assert.deepEqual((await read(table, cursor)).names, [])
    await embedded.db.query(`DELETE FROM ${TABLE} WHERE jti = 'second'`)
    assert.deepEqual((await read(table, cursor)).names, ['first'])
    await update(`xid = '4000000000'::xid8`)
    const ahead = await read(table)
    assert.deepEqual((await read(table, ahead.cursor)).names, ['first'], 'of another server')
  })

  it('the entries of a dump are read each time, until they have numbers of this server', async () => {
    const table = source()
    await table.append({ jti: 'first', until: END })
    await embedded.db.query(`UPDATE ${TABLE} SET xid = '4000000000'::xid8`)
    await table.append({ jti: 'second', until: END })
    let { cursor, names } = await read(table)
    for (let pulls = 0; pulls < 3; pulls++) {
      assert.deepEqual(new Set(names), new Set(['first', 'second']))
      ;({ cursor, names } = await read(table, cursor))
    }
    await embedded.db.query(`UPDATE ${TABLE} SET xid = DEFAULT`)
    ;({ cursor } = await read(table, cursor))
    assert.deepEqual((await read(table, cursor)).names, [])
  })

  it('numbers that no row had are not skipped, since a server that crashed gives them again', async () => {
    const table = source()
    await table.append({ jti: 'first', until: END })
    const { rows } = await embedded.db.query(`SELECT xid::text AS xid FROM ${TABLE}`)
    for (let i = 0; i < 5; i++) await embedded.db.query('SELECT pg_current_xact_id()')
    const { cursor } = await read(table)
    const again = `${BigInt(Object(rows[0]).xid) + 1n}`
    const insert = `INSERT INTO ${TABLE} (xid, jti, until) VALUES ($1::text::xid8, 'again', $2)`
    await embedded.db.query(insert, [again, END])
    assert.deepEqual((await read(table, cursor)).names, ['again'])
  })

  it('it is read in pages, however many rows one transaction has added', async () => {
    const table = source()
    await table.append({ jti: 'first', until: END })
    const insert = `INSERT INTO ${TABLE} (jti) SELECT 'of many ' || n FROM generate_series(1, $1) n`
    await embedded.db.query(insert, [3500])
    await table.append({ jti: 'last' })
    let most = 0
    const query: PostgresPool['query'] = async (question) => {
      const answer = await embedded.pool.query(question)
      most = Math.max(most, answer.rows.length)
      return answer
    }
    const { names, cursor } = await read(source({ query }))
    assert.deepEqual([names.length, new Set(names).size, most], [3502, 3502, 1000])
    assert.deepEqual((await read(table, cursor)).names, [])
  })

  it('a row without an end counts from when it was added, for each reader by its own rule', async () => {
    await source().append({ sub: 'alice', issuer: ISSUER_A })
    const moved = `UPDATE ${TABLE} SET added_at = now() - interval '1 hour'`
    await embedded.db.query(moved)
    const lists = [60, 86_400].map((maxLifetime) =>
      postgresDenyList({ pool: embedded.pool, maxLifetime }),
    )
    const token = tokenOf({ issuedAt: new Date(), expiresAt: new Date() })
    for (const list of lists) await list.ready()
    assert.deepEqual(
      lists.map((list) => verdictOf(list, token)),
      [false, true],
    )
  })

  it('rows that ended a day ago are neither returned nor stored', async () => {
    const table = source()
    await table.changes(null)
    const insert = `INSERT INTO ${TABLE} (jti, until) VALUES ($1, now() - $2::interval)`
    await embedded.db.query(insert, ['yesterday', '23 hours'])
    await embedded.db.query(insert, ['before', '25 hours'])
    const endless = `INSERT INTO ${TABLE} (jti, added_at) VALUES ($1, now() - $2::interval)`
    await embedded.db.query(endless, ['for some reader', '25 days'])
    await embedded.db.query(endless, ['for no reader', '26 days'])
    assert.deepEqual((await read(table)).names, ['yesterday'])
    await source().append({ jti: 'now', until: END })
    const { rows } = await embedded.db.query(`SELECT jti FROM ${TABLE} ORDER BY jti`)
    assert.deepEqual(rows, [{ jti: 'for some reader' }, { jti: 'now' }, { jti: 'yesterday' }])
  })

  it('a server whose clock is days ahead neither hides nor deletes what has not ended', async () => {
    await embedded.db.exec(`CREATE SCHEMA ahead;
      CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz VOLATILE
        RETURN pg_catalog.clock_timestamp() + interval '3 days';
      CREATE FUNCTION ahead.now() RETURNS timestamptz STABLE
        RETURN pg_catalog.now() + interval '3 days';
      SET search_path = ahead, pg_catalog, public`)
    const table = tableSource(embedded.pool, `public.${TABLE}`, true, 86_400)
    for (const jti of ['first', 'second']) await table.append({ jti, until: END })
    const { names } = await read(table)
    await embedded.db.exec('RESET search_path; DROP SCHEMA ahead CASCADE')
    assert.deepEqual(names, ['first', 'second'])
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
    const ahead = tableSource({ ...embedded.pool, query }, TABLE, false, 86_400)
    t.mock.timers.enable({ apis: ['Date'], now })
    assert.deepEqual((await read(ahead)).names, ['first'])
  })

  it('where a whole page had ended, the next deletion comes in a second, else in a minute', async (t) => {
    t.after(() => Reflect.deleteProperty(clock, 'now'))
    let deletions = 0
    const query: PostgresPool['query'] = (question) => {
      if (question.text.startsWith('DELETE')) deletions += 1
      return embedded.pool.query(question)
    }
    const table = source({ query })
    await table.changes(null)
    const insert = `INSERT INTO ${TABLE} (jti, until)
      SELECT 'ended-' || n, now() - interval '2 days' FROM generate_series(1, 1500) AS n`
    await embedded.db.query(insert)
    const rows = async () =>
      (await embedded.db.query(`SELECT FROM ${TABLE} WHERE jti LIKE 'ended-%'`)).rows.length
    const found: string[] = []
    for (const seconds of [0, 0.9, 1, 60.9, 61]) {
      clock.now = () => seconds * SECOND
      await table.append({ jti: 'now', until: END })
      found.push(`${await rows()} left, ${deletions}`)
    }
    assert.deepEqual(found, ['500 left, 1', '500 left, 1', '0 left, 2', '0 left, 2', '0 left, 3'])
  })

  const FAR: readonly [what: string, entry: KeptEntry, kept: object][] = [
    ['an end', { jti: 'a', until: new Date(8.64e15) }, { until: '9999-12-30T00:00:00.000Z' }],
    [
      'tokens of all times',
      { jti: 'a', until: END, issuedBefore: new Date(8.64e15) },
      { until: END.toISOString(), issuedBefore: '9999-12-30T00:00:00.000Z' },
    ],
    [
      'tokens of no time',
      { jti: 'a', until: END, issuedBefore: new Date(-8.64e15) },
      { until: END.toISOString(), issuedBefore: '0001-01-02T00:00:00.000Z' },
    ],
  ]

  for (const [what, entry, kept] of FAR) {
    it(`${what} beyond what a row can hold is the last time that it can: ${Object.keys(kept)}`, async () => {
      const table = source()
      await table.append(entry)
      const [row] = (await read(table)).rows
      assert.deepEqual({ ...row, ...kept }, { ...row })
    })
  }

  it('neither a row nor a value of it is in the error of a statement', async () => {
    const table = source()
    await table.changes(null)
    await embedded.db.exec(`ALTER TABLE ${TABLE} ADD CONSTRAINT others CHECK (sub <> 'hunter2')`)
    const failure = await table.append({ sub: 'hunter2' }).catch((error: unknown) => error)
    assert.doesNotMatch(inspect(failure), /hunter2/)
    assert.deepEqual(errorCode(failure), '23514')
    await embedded.db.exec(
      `ALTER TABLE ${TABLE} DROP CONSTRAINT others, ALTER sub TYPE uuid USING NULL`,
    )
    const other = await table.append({ sub: 'hunter2' }).catch((error: unknown) => error)
    assert.doesNotMatch(inspect(other), /hunter2/)
    assert.deepEqual(errorCode(other), '22P02')
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
    assert.equal((await read(source())).rows.length, 1)
  })

  it('an entry is added at once where ended ones are locked', async () => {
    const pool: PostgresPool = {
      ...embedded.pool,
      query: (question) =>
        question.text.startsWith('DELETE') ? new Promise(() => {}) : embedded.pool.query(question),
    }
    await postgresDenyList({ pool, createTable: true }).add({ jti: 'token-1' })
    assert.equal((await read(source())).rows.length, 1)
  })

  it('createTable makes a table again that somebody has dropped', async () => {
    const list = make()
    await list.add({ sub: 'alice' })
    await list.ready()
    await embedded.db.query(`DROP TABLE ${TABLE}`)
    await assert.rejects(list.add({ jti: 'token-1' }), { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
    await list.add({ jti: 'token-1' })
    await list.ready()
    assert.equal((await read(source())).rows.length, 1)
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

  it('createTable makes no table where the search path finds one, in whatever schema', async () => {
    const { db, pool } = embedded
    await db.exec('CREATE SCHEMA first; CREATE SCHEMA second; SET search_path = second')
    const table = 'found_later'
    await postgresDenyList({ pool, table, createTable: true }).add({ sub: 'alice' })
    await db.exec('SET search_path = first, second')
    const list = postgresDenyList({ pool, table, createTable: true })
    await list.ready()
    assert.equal(verdictOf(list), true)
    const { rows } = await db.query('SELECT schemaname FROM pg_tables WHERE tablename = $1', [
      table,
    ])
    assert.deepEqual(rows, [{ schemaname: 'second' }])
    await db.exec('RESET search_path')
  })

  it('createTable needs no right to make one where it is there', async () => {
    const { db, pool } = embedded
    await postgresDenyList({ pool, table: 'made_before', createTable: true }).add({ sub: 'alice' })
    await db.exec('CREATE ROLE reader; GRANT ALL ON made_before TO reader; SET ROLE reader')
    const list = postgresDenyList({ pool, table: 'made_before', createTable: true })
    await list.ready()
    assert.equal(verdictOf(list), true)
    await db.exec('RESET ROLE')
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
    for (const rows of [[], [null], [{ xid: null, newestXid: '1', xmin: 1 }]]) {
      const pool = { ...embedded.pool, query: async () => ({ rows }) }
      await assert.rejects(postgresDenyList({ pool }).ready())
    }
  })

  it('a row that is none, and a page without one, are a failure and no end', async () => {
    const newest = { newestXid: '1', newestId: '1', newestAt: END.toISOString() }
    const row = { xmin: '2', ...newest, xid: '1', id: '1', addedAt: END.toISOString() }
    for (const odd of [[], [null], [row, null]]) {
      const pages = [Array(1000).fill(row), odd]
      const query = async () => ({ rows: pages.shift() ?? [] })
      const table = tableSource({ query }, TABLE, false, 86_400)
      const { cursor } = await table.changes(null)
      await assert.rejects(table.changes(cursor), JSON.stringify(odd))
    }
  })
})

const pool = { query: async () => ({ rows: [] }) }

const BAD: [what: string, options: unknown, message: RegExp][] = [
  ['nothing', undefined, /^options: expected an object, found undefined/],
  ['no pool', {}, /^pool: expected a pool/],
  ['a pool that is none', { pool: { connect: pool.query } }, /^pool: expected a pool/],
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
    const shown = () => Reflect.apply(postgresDenyList, undefined, [options])
    assert.throws(shown, configError(message, '(postgresDenyList())'))
  })
}

it('a table may have a name of 63 characters', () => {
  assert.equal(typeof postgresDenyList({ pool, table: 'a'.repeat(63) }), 'function')
})
