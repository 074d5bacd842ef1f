import type { Changes, GivenEntry, KeptEntry } from '../deny-list/deny-entry.ts'
import type { DenyListSource } from '../deny-list/deny-list-source.ts'
import { TIMEOUT } from '../deny-list/pulls.ts'
import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import { Unusable } from '../outside/unusable.ts'
import { Notifications } from './notifications.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { type RevocationsSql, revocationsSql } from './revocations-sql.ts'

/**
 * Up to where a server was read. Another server, or this one after a restore or a promotion, counts
 * its transactions anew: it began at another time.
 */
interface Cursor {
  readonly server: string
  readonly xmin: string
}

/** Entries in a table of PostgreSQL. */
export class RevocationsTable implements DenyListSource<Cursor> {
  readonly #pool: PostgresPool
  readonly #sql: RevocationsSql
  readonly #notifications: Notifications
  #mustCreate: boolean

  /** @param table a checked name */
  constructor(pool: PostgresPool, table: string, createTable: boolean) {
    this.#pool = pool
    this.#sql = revocationsSql(table)
    this.#notifications = new Notifications(pool, this.#sql.listen)
    this.#mustCreate = createTable
  }

  listen(wake: () => void): void {
    this.#notifications.open(wake)
  }

  end(): void {
    this.#notifications.close()
  }

  async changes(cursor: Cursor | null): Promise<Changes<Cursor>> {
    await this.#create()
    const { server = null, xmin = null } = cursor ?? {}
    const { rows } = await this.#ask(this.#sql.select, [server, xmin, clientTime()])
    return { entries: rows.filter(isEntry), cursor: cursorOf(rows[0]) }
  }

  async append(entry: KeptEntry): Promise<void> {
    const { jti, sid, sub, issuer, issuedBefore, until } = entry
    // Sent all the same, half a pair would become another letter, and the entry would fit no token.
    if ([jti, sid, sub, issuer].some(isUnkeepable)) throw new Unusable('a name has no UTF-8')
    await this.#create()
    const times = [issuedBefore?.toISOString(), until.toISOString()]
    const values = [jti, sid, sub, issuer, ...times].map((value) => value ?? null)
    await this.#ask(this.#sql.insert, values)
    // The entry is kept. Without the right to delete, somebody else has to.
    await this.#ask(this.#sql.deleteEnded, [clientTime()]).catch(() => {})
  }

  async #create(): Promise<void> {
    if (!this.#mustCreate) return
    await this.#ask(this.#sql.create)
    this.#mustCreate = false
  }

  #ask(text: string, values: unknown[] = []) {
    return this.#pool.query({ text, values, query_timeout: TIMEOUT })
  }
}

/** A text of PostgreSQL is UTF-8 without U+0000: it cannot hold half of a surrogate pair either. */
function isUnkeepable(name: string | undefined): boolean {
  return name !== undefined && /[\0\p{Surrogate}]/u.test(name)
}

function clientTime(): string {
  return new Date().toISOString()
}

/** Where nothing has changed, the one row has no entry. */
function isEntry(row: unknown): row is GivenEntry {
  return isObject(row) && ownProperty(row, 'until') !== null
}

function cursorOf(row: unknown): Cursor {
  const [server, xmin] = isObject(row) ? [row['server'], row['xmin']] : []
  if (typeof server === 'string' && typeof xmin === 'string') return { server, xmin }
  throw new Unusable('no cursor')
}
