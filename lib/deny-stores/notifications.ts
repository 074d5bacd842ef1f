import { Alarm } from '../outside/alarm.ts'
import { BackOff } from '../outside/back-off.ts'
import { clock } from '../outside/clock.ts'
import { withinTime } from '../outside/within-time.ts'
import type { PostgresClient, PostgresPool } from './postgres-pool.ts'

/** Seconds between two attempts to connect. */
const REST = { retry: 1, retryMax: 30 }

/** Milliseconds between two checks of a connection. */
const CHECK_EVERY = 60_000

/** Milliseconds for an answer. */
const LATE = 5000

/**
 * Messages of a channel, on a connection of its own. They only wake, and may be lost: where the
 * connection is lost, another one is tried, and whoever listens is woken for what was missed.
 */
export class Notifications {
  readonly #pool: PostgresPool
  readonly #statement: string
  readonly #backOff = new BackOff(REST)
  readonly #alarm = new Alarm(() => void this.#go())
  /** Undefined: it is closed. */
  #wake: (() => void) | undefined
  #client: PostgresClient | undefined

  constructor(pool: PostgresPool, statement: string) {
    this.#pool = pool
    this.#statement = statement
  }

  open(wake: () => void): void {
    this.#wake = wake
    void this.#connect()
  }

  close(): void {
    this.#wake = undefined
    this.#alarm.stop()
    this.#lose(this.#client)
  }

  #go(): Promise<void> {
    return this.#client === undefined ? this.#connect() : this.#check(this.#client)
  }

  async #connect(): Promise<void> {
    const wake = this.#wake
    let client: PostgresClient | undefined
    try {
      client = await this.#pool.connect()
      // It was closed, or opened anew, while this one was on its way.
      if (this.#wake !== wake) return client.release()
      await this.#listen(client, () => wake?.())
    } catch {
      if (this.#client === client) this.#lose(client)
      if (this.#wake === wake) this.#alarm.set(clock.now() + this.#backOff.next())
    }
  }

  async #listen(client: PostgresClient, wake: () => void): Promise<void> {
    this.#client = client
    client.on('notification', () => this.#client === client && wake())
    // Without a listener, an error of a connection would end the process.
    for (const event of ['error', 'end'] as const) client.on(event, () => this.#lost(client))
    await this.#ask(client)
    this.#backOff.reset()
    wake()
  }

  /** A connection may be gone without a word, and would tell of no message for ever. */
  async #check(client: PostgresClient): Promise<void> {
    try {
      await this.#ask(client)
    } catch {
      this.#lost(client)
    }
  }

  /** Asked once more, the statement changes nothing, and its answer is a sign of life. */
  async #ask(client: PostgresClient): Promise<void> {
    await withinTime(() => client.query(this.#statement), LATE)
    if (this.#client === client) this.#alarm.set(clock.now() + CHECK_EVERY)
  }

  #lost(client: PostgresClient): void {
    if (this.#client !== client) return
    this.#lose(client)
    this.#alarm.set(clock.now() + this.#backOff.next())
  }

  /** It is not given back: it listens, or is broken. */
  #lose(client: PostgresClient | undefined): void {
    this.#client = undefined
    client?.release(true)
  }
}
