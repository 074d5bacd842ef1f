import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout } from 'node:timers/promises'
import type { DecisionEvent } from '../../lib/index.ts'
import type { SqlDatabase } from './sql-database.ts'

export const AUDIT_TABLE = `
  CREATE TABLE IF NOT EXISTS decisions (
    at timestamptz NOT NULL, outcome text NOT NULL, code text, issuer text, sub text, actor text,
    tenant text, method text, route text
  )`

const INSERT = `
  INSERT INTO decisions
  SELECT * FROM json_to_recordset($1::json) AS row (
    at timestamptz, outcome text, code text, issuer text, sub text, actor text,
    tenant text, method text, route text
  )`

const CHANNEL = 'fastify-tenant-auth:decision'

/** Rows of one statement. */
const MOST_AT_ONCE = 500

/**
 * Writes each decision into a table, in batches. No request waits for it. While the database is
 * down, decisions wait in a queue; where the queue is full, the newest are lost, and counted.
 */
export class AuditTable {
  readonly #database: SqlDatabase
  readonly #onError: (error: unknown, lost: number) => void
  readonly #mostWaiting: number
  readonly #waiting: object[] = []
  #lost = 0
  #writing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  /**
   * @param onError receives the error of each batch that was not written, and the rows lost so far
   * @param mostWaiting rows that wait for the database at most
   */
  constructor(
    database: SqlDatabase,
    onError: (error: unknown, lost: number) => void,
    mostWaiting = 10_000,
  ) {
    this.#database = database
    this.#onError = onError
    this.#mostWaiting = mostWaiting
  }

  open(milliseconds = 1000): void {
    subscribe(CHANNEL, this.#note)
    this.#timer = setInterval(() => void this.write(), milliseconds)
    this.#timer.unref()
  }

  /** Writes what waits, unless that takes longer than the limit. */
  async close(limit = 5000): Promise<void> {
    unsubscribe(CHANNEL, this.#note)
    clearInterval(this.#timer)
    const last = (this.#writing ?? Promise.resolve()).then(() => this.write())
    const ended = new AbortController()
    await Promise.race([last, setTimeout(limit, undefined, { signal: ended.signal })])
    ended.abort()
  }

  /** One statement at a time, up to the first that fails. */
  write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined
    })
    return this.#writing
  }

  readonly #note = (message: unknown): void => {
    if (this.#waiting.length >= this.#mostWaiting) {
      this.#lost++
      return
    }
    const { request, outcome, code, issuer, sub, actor, tenant } = message as DecisionEvent
    const { method, routeOptions } = request ?? {}
    const at = new Date().toISOString()
    const route = routeOptions?.url
    const by = actor?.sub
    this.#waiting.push({ at, outcome, code, issuer, sub, actor: by, tenant, method, route })
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const rows = this.#waiting.slice(0, MOST_AT_ONCE)
      try {
        await this.#database.query(INSERT, [JSON.stringify(rows, asKept)])
      } catch (error) {
        this.#onError(error, this.#lost)
        return
      }
      this.#waiting.splice(0, rows.length)
    }
  }
}

/** PostgreSQL keeps no U+0000 and no half of a surrogate pair, which the names in a token may have. */
function asKept(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/[\0\p{Surrogate}]/gu, '\ufffd') : value
}
