import { clock } from '../runtime/clock.ts'
import { ownCopy } from '../runtime/own-property.ts'
import { BackOff, type BackOffRules, LEAST_WAIT } from '../runtime/timer.ts'

// Outside: documents of other servers, which grow old while their servers are away.

/** Seconds. */
export interface Ages {
  /** Age up to which a document is fresh. A new one is asked for before that. */
  readonly maxAge: number
  /** Time beyond `maxAge` for which it still serves while no new one can be had. */
  readonly maxStale: number
}

/** The times of a document, in seconds. */
export interface Freshness extends Ages, BackOffRules {
  /** Limit of one whole load. */
  readonly timeout: number
  /** Limit of the waits for a place before that, all together. Default: none has to wait. */
  readonly patience?: number
  /**
   * It is loaded on demand: a load that is due begins when somebody asks, so that a document that
   * is not used is not asked for. Otherwise a timer keeps it fresh.
   */
  readonly isLazy?: boolean
}

export function wholeFreshness(given: Freshness): Required<Freshness> {
  const { patience = 0, isLazy = false } = ownCopy(given)
  return { ...given, patience, isLazy }
}

/** The part of `maxAge` after which a new document is asked for in the background. */
const REFRESH_AT = 0.8

/**
 * Milliseconds of age from which a document serves no more. It serves for a moment at least, so
 * that those who waited for it can use it.
 */
export function lastAge({ maxAge, maxStale }: Ages): number {
  return Math.max(LEAST_WAIT, (maxAge + maxStale) * 1000)
}

/** The times of the next load, and of the end of a document: readings of `clock`. */
export class LoadSchedule {
  readonly #freshness: Required<Freshness>
  readonly #backOff: BackOff
  #loadedAt = Number.NEGATIVE_INFINITY
  dueAt = Number.NEGATIVE_INFINITY
  /** No load before this time: the wait after a failure. */
  #restUntil = Number.NEGATIVE_INFINITY
  /** A document that is loaded on demand serves until then without another look. */
  #provedUntil = Number.NEGATIVE_INFINITY

  constructor(freshness: Required<Freshness>) {
    this.#freshness = freshness
    this.#backOff = new BackOff(freshness)
  }

  began(): void {
    this.dueAt = clock.now() + this.#timeout
  }

  /** The load that is under way comes to nothing: the next one need not wait for its time limit. */
  ended(): void {
    this.dueAt = clock.now()
  }

  succeeded(): void {
    this.#loadedAt = clock.now()
    this.#backOff.reset()
    this.#restUntil = this.#loadedAt
    this.dueAt = this.#loadedAt + Math.max(LEAST_WAIT, this.#refreshAge)
    this.#provedUntil = this.#loadedAt + Math.max(LEAST_WAIT, this.#freshness.maxAge * 1000)
  }

  failed(): void {
    this.#restUntil = clock.now() + this.#backOff.next()
    // A document that is still fresh is not asked for earlier because one more look has failed.
    this.dueAt = Math.max(this.#loadedAt + this.#refreshAge, this.#restUntil)
    const attempt = this.#timeout + this.#freshness.patience * 1000
    this.#provedUntil = Math.max(this.#provedUntil, this.#restUntil + attempt)
  }

  forget(): void {
    this.#loadedAt = Number.NEGATIVE_INFINITY
    this.#provedUntil = Number.NEGATIVE_INFINITY
  }

  isDue(now: number): boolean {
    return now >= this.dueAt
  }

  get retryAfter(): number {
    return (this.dueAt - clock.now()) / 1000
  }

  get hasRested(): boolean {
    return clock.now() >= this.#restUntil
  }

  /**
   * A document that is kept fresh grows stale only while its server fails. One that is loaded on
   * demand grows old while it is not used too; then its server is asked first, and only a failure,
   * up to the end of the attempt after it, lets the old one serve.
   */
  get servesUntil(): number {
    const oldest = this.#loadedAt + lastAge(this.#freshness)
    return this.#freshness.isLazy ? Math.min(oldest, this.#provedUntil) : oldest
  }

  serves(now: number): boolean {
    return now < this.servesUntil
  }

  get #timeout(): number {
    return this.#freshness.timeout * 1000
  }

  get #refreshAge(): number {
    return this.#freshness.maxAge * 1000 * REFRESH_AT
  }
}
