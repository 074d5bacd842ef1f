// Outside: documents of other servers, which come, grow old, and are gone. Operators watch that.

import { clock } from './clock.ts'
import type { DocumentState, TellChange } from './document-state.ts'
import { type Freshness, lastAge } from './freshness.ts'

/** What has become of one document. Each change is told once, when it is found. */
export class DocumentStory {
  readonly #ages: Pick<Freshness, 'maxAge' | 'maxStale'>
  readonly #tell: TellChange
  #loadedAt = Number.NEGATIVE_INFINITY
  /** When it will be older than was told. */
  #olderAt = Number.POSITIVE_INFINITY
  #failure: string | null = null

  constructor(ages: Pick<Freshness, 'maxAge' | 'maxStale'>, tell: TellChange) {
    this.#ages = ages
    this.#tell = tell
  }

  /** @param at a reading of `clock` */
  fetched(at = clock.now()): void {
    this.#loadedAt = at
    this.#olderAt = at + this.#ages.maxAge * 1000
    this.#failure = null
    this.#tell('fetched', this.state)
  }

  /** @param reason constant text */
  failed(reason: string): void {
    this.#failure = reason
    this.#tell('failed', this.state)
  }

  /**
   * Looks whether it has grown old.
   *
   * @param now a reading of `clock`
   * @param serves whether it is used now
   */
  look(now: number, serves: boolean): void {
    if (now < this.#olderAt) return
    const goneAt = this.#loadedAt + lastAge(this.#ages)
    if (now < goneAt && !serves) return
    this.#olderAt = now < goneAt ? goneAt : Number.POSITIVE_INFINITY
    this.#tell(now < goneAt ? 'stale' : 'gone', this.state)
  }

  /** Its source says that there is none any more. */
  ended(): void {
    this.#loadedAt = Number.NEGATIVE_INFINITY
    this.#olderAt = Number.POSITIVE_INFINITY
    this.#tell('gone', this.state)
  }

  get state(): DocumentState {
    const age = clock.now() - this.#loadedAt
    const isFresh = age < this.#ages.maxAge * 1000
    const isThere = age < lastAge(this.#ages)
    return {
      state: isFresh ? 'fresh' : isThere ? 'stale' : 'none',
      age: Number.isFinite(age) ? age / 1000 : null,
      failure: this.#failure,
    }
  }
}
