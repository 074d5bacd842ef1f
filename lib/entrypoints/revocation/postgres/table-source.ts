import { LONGEST_SECONDS } from '../../../config/option-types.ts'
import { Unusable } from '../../../platform/http/failure.ts'
import { clock } from '../../../platform/runtime/clock.ts'
import { ignoreRejection } from '../../../platform/runtime/maybe-promise.ts'
import { ownProperty } from '../../../platform/runtime/own-property.ts'
import type { KeptEntry } from '../entry.ts'
import { type DenyListSource, type Page, TIMEOUT } from '../poller.ts'

const SWEEP_EVERY = 60_000

/** Milliseconds until the next sweep, if the last one deleted a whole page. */
const SECOND = 1000

/** The SQLSTATE of a table that is not there. */
const NO_TABLE = '42P01'

/** A row, by its transaction, its number, and when it was added. */
type Mark = readonly [xid: string, id: string, addedAt: string]

/** Up to where the table was read. */
interface Cursor {
  /** The rows after it are to be read. */
  readonly xid: string
  readonly id: string
  /**
   * The newest row then: while it is there, this is the table that was read. Null between two
   * pages: the first one has shown it.
   */
  readonly newest: Mark | null
  /** The place at which the next question begins, once all pages are read; null: they are. */
  readonly next: Cursor | null
}

const START: Cursor = { xid: '0', id: '0', newest: null, next: null }

/**
 * Entries in a table of PostgreSQL.
 *
 * @param table a checked name
 * @param maxLifetime seconds; an older entry without an end is of no use here
 */
export function tableSource(
  pool: PostgresPool,
  table: string,
  createTable: boolean,
  maxLifetime: number,
) {
  const sql = revocationsSql(table)
  let mustCreate = createTable
  let sweepAt = Number.NEGATIVE_INFINITY

  async function create(): Promise<void> {
    if (mustCreate) await query(sql.create)
    mustCreate = false
  }

  async function query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    try {
      const { rows } = await pool.query({ text, values, query_timeout: TIMEOUT })
      return rows.map(Object)
    } catch (error) {
      // Somebody has dropped it, or this is another database.
      if (ownProperty(Object(error), 'code') === NO_TABLE) mustCreate = createTable
      throw withoutValues(error)
    }
  }

  async function sweep(): Promise<void> {
    if (clock.now() < sweepAt) return
    sweepAt = clock.now() + SWEEP_EVERY
    const deleted = await query(sql.deleteEnded, [clientTime()])
    if (deleted.length === PAGE) sweepAt = clock.now() + SECOND
  }

  return {
    async changes(cursor: Cursor | null): Promise<Page<Cursor>> {
      await create()
      const at = cursor ?? START
      const [xid = null, id = null, addedAt = null] = at.newest ?? []
      const known = [at.xid, at.id, xid, id, addedAt]
      const rows = await query(sql.select, [...known, clientTime(), `${maxLifetime}`])
      const [first] = rows
      if (first === undefined) throw new Unusable('no cursor')
      const next = at.next ?? nextOf(first)
      const entries = rows.filter((row) => row['xid'] !== null)
      const last = entries.length === PAGE ? entries.at(-1) : undefined
      return {
        entries,
        keptAt: entries.map((row) => Date.parse(text(row, 'addedAt'))),
        cursor: last ? { xid: text(last, 'xid'), id: text(last, 'id'), newest: null, next } : next,
        hasMore: last !== undefined,
      }
    },
    async append(entry: KeptEntry): Promise<void> {
      const { jti, sid, sub, issuer, issuedBefore, until } = entry
      // Half a pair would become another letter, and the entry would fit no token.
      if ([jti, sid, sub, issuer].some(isUnkeepable)) throw new Unusable('a name has no UTF-8')
      await create()
      const times = [issuedBefore, until].map((time) => time && keepableTime(time))
      const values = [jti, sid, sub, issuer, ...times].map((value) => value ?? null)
      await query(sql.insert, values)
      // The entry is stored. Without the right to delete, somebody else has to.
      ignoreRejection(sweep())
    },
  } satisfies DenyListSource<Cursor>
}

/**
 * A transaction that is under way has a number of at least `xmin`. It may commit after a later one:
 * all from `xmin` on is read again next time. But rows after the newest one are never skipped,
 * since a server that crashed gives the numbers anew that no row had.
 */
function nextOf(row: Record<string, unknown>): Cursor {
  const xmin = text(row, 'xmin')
  if (row['newestXid'] === null) return START
  const newest: Mark = [text(row, 'newestXid'), text(row, 'newestId'), text(row, 'newestAt')]
  const [xid, id] = BigInt(xmin) > BigInt(newest[0]) ? newest : [xmin, '0']
  return { xid, id, newest, next: null }
}

function text(row: Record<string, unknown>, name: string): string {
  const value = row[name]
  if (typeof value === 'string') return value
  throw new Unusable('no cursor')
}

/** A text of PostgreSQL is UTF-8 without U+0000: it cannot hold half of a surrogate pair either. */
function isUnkeepable(name = ''): boolean {
  return /[\0\p{Surrogate}]/u.test(name)
}

/** A time that a row can hold. Beyond it nothing changes: no token is so old, or lives so long. */
function keepableTime(time: Date): string {
  const kept = Math.min(Math.max(time.getTime(), Date.parse(FIRST_DAY)), Date.parse(LAST_DAY))
  return new Date(kept).toISOString()
}

/**
 * The error without the row that was refused, and without a value in its message (SQLSTATE class
 * 22): they are claims.
 */
function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = ownProperty(error, 'code')
  const isOfValue = typeof code === 'string' && code.startsWith('22')
  const shown = new Error(isOfValue ? 'a value cannot be stored' : error.message)
  return Object.assign(shown, { name: error.name }, code === undefined ? {} : { code })
}

function clientTime(): string {
  return new Date().toISOString()
}

/** One statement for a pool of the package pg. */
export interface PostgresQuestion {
  readonly text: string
  readonly values: unknown[]
  /**
   * Milliseconds. A connection whose answer is late is closed, so that connections to a server that
   * is out of reach do not take up the whole pool for good.
   */
  readonly query_timeout: number
}

/** The part of a pool of the package pg that is needed. */
export interface PostgresPool {
  query(question: PostgresQuestion): Promise<{ readonly rows: readonly unknown[] }>
}

/** Rows of one answer of the server, and of one deletion. */
const PAGE = 1000

/** A time as `toISOString()` writes it, whatever the session's time zone and the driver's types. */
const asText = (column: string, fraction: 'MS' | 'US' = 'MS') =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${fraction}"Z"')`

/** The days at both ends of the times that have such a text, with four digits of the year. */
const FIRST_DAY = '0001-01-02'
const LAST_DAY = '9999-12-30'

const isShort = (column: string) => `${column} BETWEEN '${FIRST_DAY}Z' AND '${LAST_DAY}Z'`

/**
 * A day ago, by the server's clock and by the client's, which is a text: the earlier one counts.
 * Even clocks that are right differ, and entries count a little beyond their end. `now()` does not
 * change within a statement, without which no index would serve.
 */
const aDayAgo = (clientTime: string) =>
  `least(now(), ${clientTime}::text::timestamptz) - interval '1 day'`

const secondsBefore = (time: string, seconds: string) =>
  `${time} - make_interval(secs => ${seconds})`

/**
 * The statements for one table.
 *
 * @param name lower-case letters, digits and underscores, and one dot at most
 */
export function revocationsSql(name: string) {
  const table = name.replace(/[^.]+/g, '"$&"')
  return {
    // The lock is for two processes that create it at one moment: they would disturb each other.
    create: `DO $$ BEGIN
      PERFORM pg_advisory_xact_lock(hashtext('${name}'));
      -- IF NOT EXISTS looks into the first schema of the search path only.
      IF to_regclass('${table}') IS NOT NULL THEN RETURN; END IF;
      CREATE TABLE ${table} (
        xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
        id bigint GENERATED ALWAYS AS IDENTITY,
        added_at timestamptz NOT NULL DEFAULT clock_timestamp() CHECK (${isShort('added_at')}),
        jti text, sid text, sub text, issuer text,
        issued_before timestamptz CHECK (${isShort('issued_before')}),
        until timestamptz CHECK (${isShort('until')}),
        CHECK (num_nonnulls(jti, sid, sub, issuer) > 0),
        PRIMARY KEY (xid, id));
      CREATE INDEX ON ${table} (until, added_at);
    END $$`,
    // A page of the rows after ($1, $2), or of all. ($3, $4, $5) is the newest row that was seen:
    // if it is gone, or ahead of the server, the server is another one, was restored, or crashed
    // and gives its numbers again, and everything is read anew. It is deleted only after a newer
    // one has come.
    // The times are computed once: a new process passes over millions of rows that have ended.
    select: `WITH newest AS (
        SELECT xid, id, ${asText('added_at', 'US')} AS at FROM ${table}
        ORDER BY xid DESC, id DESC LIMIT 1),
      here AS MATERIALIZED (
        SELECT ${aDayAgo('$6')} AS "dayAgo",
          ${secondsBefore(aDayAgo('$6'), '$7::text::float8')} AS "lifeAgo",
          pg_snapshot_xmin(pg_current_snapshot()) AS xmin, $3::text IS NULL OR (
          $3::text::xid8 < pg_snapshot_xmax(pg_current_snapshot()) AND EXISTS (
            SELECT FROM ${table} WHERE xid = $3::text::xid8 AND id = $4::text::bigint
              AND ${asText('added_at', 'US')} = $5::text)) AS "isSame")
      SELECT here.xmin::text AS xmin, here."isSame",
        newest.xid::text AS "newestXid", newest.id::text AS "newestId", newest.at AS "newestAt",
        entry.xid::text AS xid, entry.id::text AS id, entry."addedAt",
        jti, sid, sub, issuer, "issuedBefore", until
      FROM here LEFT JOIN newest ON true LEFT JOIN LATERAL (
        SELECT xid, id, ${asText('added_at')} AS "addedAt", jti, sid, sub, issuer,
          ${asText('issued_before')} AS "issuedBefore", ${asText('until')} AS until
        FROM ${table}
        WHERE (xid, id) > (CASE WHEN here."isSame" THEN $1::text ELSE '0' END::xid8,
            CASE WHEN here."isSame" THEN $2::text::bigint ELSE 0 END)
          AND coalesce(until >= here."dayAgo", added_at >= here."lifeAgo")
        ORDER BY xid, id LIMIT ${PAGE}) AS entry ON true`,
    insert: `INSERT INTO ${table} (jti, sid, sub, issuer, issued_before, until)
      VALUES ($1, $2, $3, $4, $5::text::timestamptz, $6::text::timestamptz)`,
    deleteEnded: `DELETE FROM ${table} WHERE (xid, id) IN (
      SELECT xid, id FROM ${table} WHERE until < ${aDayAgo('$1')}
        OR until IS NULL AND added_at < ${secondsBefore(aDayAgo('$1'), `${LONGEST_SECONDS}`)}
      LIMIT ${PAGE}) RETURNING 1`,
  }
}
