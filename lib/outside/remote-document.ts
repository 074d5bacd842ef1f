import { clock } from './clock.ts'
import { shownAddress } from './shown-address.ts'
import { Unusable } from './unusable.ts'

/** How long a document serves and when it is asked for again. All in seconds. */
export interface Freshness {
  /** Limit of one whole load. */
  readonly timeout: number
  /** Age up to which the document is fresh. A new one is asked for before that. */
  readonly maxAge: number
  /** Time beyond `maxAge` for which it still serves while no new one can be had. */
  readonly maxStale: number
  /** Wait after a first failure; it doubles with each further one. */
  readonly retry: number
  /** Longest wait between two attempts. */
  readonly retryMax: number
}

export interface RemoteDocumentEvents {
  /** A load failed. `reason` is constant text, `url` what may be shown of the address. */
  onFailure(reason: string, url: string | null): void
}

/** Where a document comes from. */
export interface DocumentSource<T> {
  readonly url: string
  /** @throws Unusable, whose message is told */
  load(signal: AbortSignal): Promise<T>
}

/** The part of `maxAge` after which a new document is asked for in the background. */
const REFRESH_AT = 0.8

/** More would lead beyond any number; the longest wait is reached long before. */
const MOST_DOUBLINGS = 40

/** Milliseconds; keeps a zero in the configuration from becoming a busy loop. */
const LEAST_WAIT = 20

/** Milliseconds; a timer that is set for longer fires at once. */
const LONGEST_WAIT = 2 ** 31 - 1

/**
 * A document of another server, kept fresh in the background. One load at a time; a failed load never
 * replaces a good document; requests that have one never wait.
 */
export class RemoteDocument<T> {
  readonly #source: DocumentSource<T>
  readonly #freshness: Freshness
  readonly #events: RemoteDocumentEvents
  #value: T | undefined
  // Times below are readings of `clock`, in milliseconds.
  #loadedAt = Number.NEGATIVE_INFINITY
  #failures = 0
  /** When the next load is due. */
  #dueAt = Number.NEGATIVE_INFINITY
  /** No load before this time: the wait after a failure. */
  #restUntil = Number.NEGATIVE_INFINITY
  #running: Promise<boolean> | undefined
  #queued: Promise<boolean> | undefined
  #abort: AbortController | undefined
  #timer: NodeJS.Timeout | undefined
  /** Whether the document is kept fresh by itself. */
  #isOpen = false
  #isClosed = false

  constructor(source: DocumentSource<T>, freshness: Freshness, events: RemoteDocumentEvents) {
    this.#source = source
    this.#freshness = freshness
    this.#events = events
  }

  /** Begins the first load, and keeps the document fresh from now on; resumes after `close()`. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#isClosed = false
    if (this.current() === undefined) void this.#attempt()
    else this.#schedule()
  }

  /** The last good document, unless it is beyond its stale time. Never waits; asks for a new one where that is due. */
  current(): T | undefined {
    const now = clock.now()
    // The timer does this too, but the timers of a machine that slept are late.
    if (now >= this.#dueAt && this.#isOpen) void this.#attempt()
    const { maxAge, maxStale } = this.#freshness
    return now - this.#loadedAt < (maxAge + maxStale) * 1000 ? this.#value : undefined
  }

  /** As `current()`, after the load that is under way, if there is none to give before. */
  async settled(): Promise<T | undefined> {
    if (this.current() === undefined) await this.#running
    return this.current()
  }

  /** The load that is under way. */
  get running(): Promise<boolean> | undefined {
    return this.#running
  }

  /** Whether a load may begin out of turn: none is under way, and the wait after a failure is over. */
  get mayLoad(): boolean {
    return this.#isOpen && this.#running === undefined && clock.now() >= this.#restUntil
  }

  /** A load that began after this call; resolves to whether it succeeded. */
  reload(): Promise<boolean> {
    if (this.#running === undefined) return this.#attempt()
    this.#queued ??= this.#running.then(() => {
      this.#queued = undefined
      return this.#attempt()
    })
    return this.#queued
  }

  /** Seconds until the next attempt. */
  get retryAfter(): number {
    return (this.#dueAt - clock.now()) / 1000
  }

  /** Ends a running load and all timers. */
  close(): void {
    this.#isOpen = false
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#abort?.abort()
    this.#abort = undefined
    this.#running = undefined
    this.#queued = undefined
  }

  #attempt(): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false)
    if (this.#running !== undefined) return this.#running
    const running = this.#loadOnce()
      // Whatever an application's logger throws must not end the process.
      .catch(() => false)
      .finally(() => {
        if (this.#running === running) this.#running = undefined
      })
    this.#running = running
    return running
  }

  async #loadOnce(): Promise<boolean> {
    clearTimeout(this.#timer)
    const controller = new AbortController()
    this.#abort = controller
    // While a load is under way nothing else is due.
    this.#dueAt = clock.now() + this.#freshness.timeout * 1000
    const limit = setTimeout(() => controller.abort(), this.#freshness.timeout * 1000)
    limit.unref()
    try {
      const value = await this.#source.load(controller.signal)
      return this.#abort === controller && this.#succeeded(value)
    } catch (error) {
      const reason = error instanceof Unusable ? error.message : 'the answer cannot be used'
      // A load that `close()` has ended is no failure.
      return this.#abort === controller && this.#failed(reason)
    } finally {
      clearTimeout(limit)
    }
  }

  #succeeded(value: T): true {
    this.#value = value
    this.#loadedAt = clock.now()
    this.#failures = 0
    this.#restUntil = this.#loadedAt
    this.#dueAt = this.#loadedAt + this.#freshness.maxAge * 1000 * REFRESH_AT
    this.#schedule()
    return true
  }

  #failed(reason: string): false {
    const now = clock.now()
    this.#restUntil = now + this.#backOff()
    // A document that is still fresh is not asked for earlier because one more look has failed.
    const refreshAt = this.#loadedAt + this.#freshness.maxAge * 1000 * REFRESH_AT
    this.#dueAt = this.#value === undefined ? this.#restUntil : Math.max(refreshAt, this.#restUntil)
    this.#schedule()
    this.#events.onFailure(reason, shownAddress(this.#source.url))
    return false
  }

  /**
   * Milliseconds to wait: `retry` after the first failure, then doubling up to `retryMax`, with jitter
   * that only shortens a doubled wait, so that many processes do not come back at one moment.
   */
  #backOff(): number {
    const { retry, retryMax } = this.#freshness
    const doublings = Math.min(this.#failures, MOST_DOUBLINGS)
    const doubled = Math.min(retry * 2 ** doublings, Math.max(retry, retryMax))
    this.#failures += 1
    const least = Math.max(retry, doubled / 2)
    return Math.max(LEAST_WAIT, (least + (doubled - least) * Math.random()) * 1000)
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    if (!this.#isOpen) return
    const now = clock.now()
    const wait = Math.min(Math.max(LEAST_WAIT, this.#dueAt - now), LONGEST_WAIT)
    this.#dueAt = now + wait
    this.#timer = setTimeout(() => void this.#attempt(), wait)
    this.#timer.unref()
  }
}
