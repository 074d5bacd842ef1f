// Outside: documents of other servers, which grow old while their servers are away.

import { BackOff, LEAST_WAIT } from './back-off.ts'
import { clock } from './clock.ts'
import { type Freshness, lastAge, refreshAge, wholeFreshness } from './freshness.ts'

/** Until when a document serves, and when the next load is due: readings of `clock`. */
export class DocumentTimes {
  readonly #freshness: Required<Freshness>
  readonly #backOff: BackOff
  #loadedAt = Number.NEGATIVE_INFINITY
  /** When the next load is due. */
  dueAt = Number.NEGATIVE_INFINITY
  /** No load before this time: the wait after a failure. */
  #restUntil = Number.NEGATIVE_INFINITY
  /** What is loaded on demand serves until then without another look. */
  #provedUntil = Number.NEGATIVE_INFINITY

  constructor(freshness: Freshness) {
    this.#freshness = wholeFreshness(freshness)
    this.#backOff = new BackOff(freshness)
  }

  /** A load begins. While it is under way nothing else is due. */
  began(): void {
    this.dueAt = clock.now() + this.#timeout
  }

  succeeded(): void {
    this.#loadedAt = clock.now()
    this.#backOff.reset()
    this.#restUntil = this.#loadedAt
    this.dueAt = this.#loadedAt + Math.max(LEAST_WAIT, refreshAge(this.#freshness))
    this.#provedUntil = this.#loadedAt + Math.max(LEAST_WAIT, this.#freshness.maxAge * 1000)
  }

  failed(): void {
    this.#restUntil = clock.now() + this.#backOff.next()
    // A document that is still fresh is not asked for earlier because one more look has failed.
    this.dueAt = Math.max(this.#loadedAt + refreshAge(this.#freshness), this.#restUntil)
    const attempt = this.#timeout + this.#freshness.line * 1000
    this.#provedUntil = Math.max(this.#provedUntil, this.#restUntil + attempt)
  }

  /** Nothing is loaded. */
  forget(): void {
    this.#loadedAt = Number.NEGATIVE_INFINITY
    this.#provedUntil = Number.NEGATIVE_INFINITY
  }

  isDue(now: number): boolean {
    return now >= this.dueAt
  }

  /** Seconds until the next load is due. */
  get retryAfter(): number {
    return (this.dueAt - clock.now()) / 1000
  }

  /** Whether the wait after a failure is over. */
  get hasRested(): boolean {
    return clock.now() >= this.#restUntil
  }

  /**
   * Whether the document may serve. What is kept fresh grows stale only while its server fails.
   * What is loaded on demand grows old while it is not used too; then its server is asked first,
   * and only a failure, up to the end of the attempt after it, lets the old one serve.
   */
  serves(now: number): boolean {
    if (now - this.#loadedAt >= lastAge(this.#freshness)) return false
    return !this.#freshness.isLazy || now < this.#provedUntil
  }

  /** In milliseconds. */
  get #timeout(): number {
    return this.#freshness.timeout * 1000
  }
}
