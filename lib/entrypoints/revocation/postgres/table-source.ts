import { Unusable } from '../../../platform/http/failure.ts'
import { clock } from '../../../platform/runtime/clock.ts'
import { isObject } from '../../../platform/runtime/own-property.ts'
import type { DenyListSource, Page } from '../deny-list-options.ts'
import type { KeptEntry } from '../entry.ts'
import { TIMEOUT } from '../poller.ts'
import { PAGE, revocationsSql } from './sql.ts'

const SWEEP_EVERY = 60_000

/** A row, by its transaction, its number, and when it was added. */
type Mark = readonly [xid: string, id: string, addedAt: string]

/** Up to where the table was read. */
interface Cursor {
  /** The rows after it are to be read. */
  readonly xid: string
  readonly id: string
  /** The newest row then: while it is there, this is the table that was read. */
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
    const { rows } = await pool.query({ text, values, query_timeout: TIMEOUT })
    return rows.filter(isObject)
  }

  return {
    async changes(cursor: Cursor | null): Promise<Page<Cursor>> {
      await create()
      const at = cursor ?? START
      // The first page of an answer has shown whether the table is the same.
      const newest = at.next === null ? at.newest : null
      const [xid = null, id = null, addedAt = null] = newest ?? []
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
      const times = [issuedBefore?.toISOString(), until?.toISOString()]
      const values = [jti, sid, sub, issuer, ...times].map((value) => value ?? null)
      await query(sql.insert, values)
      if (clock.now() < sweepAt) return
      sweepAt = clock.now() + SWEEP_EVERY
      // The entry is stored. Without the right to delete, somebody else has to.
      await query(sql.deleteEnded, [clientTime()]).catch(() => {})
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
function isUnkeepable(name: string | undefined): boolean {
  return name !== undefined && /[\0\p{Surrogate}]/u.test(name)
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
