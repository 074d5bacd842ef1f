import { channel } from 'node:diagnostics_channel'
import { clock } from '../runtime/clock.ts'
import { type Ages, lastAge } from './freshness.ts'

// Outside: documents of other servers, which come, grow old, and are gone. Operators watch that,
// from outside of this package too.

export interface DocumentState {
  /** `stale`: beyond its age, and served while no new one can be had. `none`: there is none. */
  readonly state: 'fresh' | 'stale' | 'none'
  /** Seconds since the last good load; null if there was none. */
  readonly age: number | null
  /** The failure of the last attempt, in constant words; null: it did not fail. */
  readonly failure: string | null
}

/** `stale`: it serves beyond its age. `gone`: it serves no more. */
export type DocumentChange = 'fetched' | 'failed' | 'stale' | 'gone'

export type ReportChange = (change: DocumentChange, state: DocumentState) => void

/** The changes of one document. Each is reported once, when it is found. */
export class DocumentStatus {
  readonly #ages: Ages
  readonly #report: ReportChange
  #loadedAt = Number.NEGATIVE_INFINITY
  /** The time at which it will be older than was reported. */
  olderAt = Number.POSITIVE_INFINITY
  #failure: string | null = null

  constructor(ages: Ages, report: ReportChange) {
    this.#ages = ages
    this.#report = report
  }

  /** @param at a reading of `clock` */
  fetched(at = clock.now()): void {
    this.#loadedAt = at
    this.olderAt = at + this.#ages.maxAge * 1000
    this.#failure = null
    this.#report('fetched', this.state)
  }

  failed(reason: string): void {
    this.#failure = reason
    this.#report('failed', this.state)
  }

  /**
   * Reports a document that has grown old.
   *
   * @param now a reading of `clock`
   * @param serves it is used now
   */
  look(now: number, serves: boolean): void {
    if (now < this.olderAt) return
    const goneAt = this.#loadedAt + lastAge(this.#ages)
    if (now < goneAt && !serves) return
    this.olderAt = now < goneAt ? goneAt : Number.POSITIVE_INFINITY
    this.#report(now < goneAt ? 'stale' : 'gone', this.state)
  }

  /** The source says that there is no document any more. */
  ended(): void {
    this.#loadedAt = Number.NEGATIVE_INFINITY
    this.olderAt = Number.POSITIVE_INFINITY
    this.#report('gone', this.state)
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

/**
 * A message of the channel `fastify-tenant-auth:document`: a change of data that decisions rest on.
 * Immutable.
 */
export interface DocumentEvent {
  /** Keys of an issuer, an answer of the function in `issuers`, tenants, or a deny list. */
  readonly kind: 'keys' | 'issuer' | 'tenants' | 'denyList'
  /**
   * The name of an issuer for its keys, the issuer that was asked about for an answer, and the kind
   * for the others. An issuer that the function has not answered for is that of an unverified
   * token.
   */
  readonly name: string
  /**
   * `stale`: it serves beyond its age while no new one can be had. `gone`: it serves no more.
   * `changed`: there are other keys than those that were known last.
   */
  readonly event: DocumentChange | 'changed'
  /** Seconds since it was had last; null: never. */
  readonly age: number | null
  /** The failure of the last attempt, in constant words; null: it did not fail. */
  readonly reason: string | null
  /** Of `changed`: the names (`kid`) of the keys that came, at most 20. */
  readonly added?: readonly string[]
  /**
   * Of `changed`: the names of the keys that went, at most 20; one that was replaced is in both.
   */
  readonly removed?: readonly string[]
}

const documents = channel('fastify-tenant-auth:document')

export function changeReporter(kind: DocumentEvent['kind'], name: string): ReportChange {
  return (event, { age, failure: reason }) => publish({ kind, name, event, age, reason })
}

/** Publishes that the keys of an issuer are others. A first set is no change. */
export function reportChangedKeys(
  name: string,
  { added, removed }: Required<Pick<DocumentEvent, 'added' | 'removed'>>,
): void {
  publish({ kind: 'keys', name, event: 'changed', age: 0, reason: null, added, removed })
}

function publish(message: DocumentEvent): void {
  if (documents.hasSubscribers) documents.publish(Object.freeze(message))
}
