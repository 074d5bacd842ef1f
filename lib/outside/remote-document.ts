// Outside: other servers, which may be slow, fail, or be away for an hour.

import { Alarm } from './alarm.ts'
import { BackOff } from './back-off.ts'
import { clock } from './clock.ts'
import { type Freshness, lastAge, refreshAge } from './freshness.ts'
import { shownAddress } from './shown-address.ts'
import { Unusable } from './unusable.ts'

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

/**
 * A document of another server, kept fresh in the background. One load at a time; a failed load
 * never replaces a good document; requests that have one never wait.
 */
export class RemoteDocument<T> {
  readonly #source: DocumentSource<T>
  readonly #freshness: Freshness
  readonly #events: RemoteDocumentEvents
  readonly #backOff: BackOff
  readonly #alarm = new Alarm(() => void this.#attempt())
  #value: T | undefined
  // Times below are readings of `clock`, in milliseconds.
  #loadedAt = Number.NEGATIVE_INFINITY
  /** When the next load is due. */
  #dueAt = Number.NEGATIVE_INFINITY
  /** No load before this time: the wait after a failure. */
  #restUntil = Number.NEGATIVE_INFINITY
  #running: Promise<boolean> | undefined
  #queued: Promise<boolean> | undefined
  #abort: AbortController | undefined
  /** Whether the document is kept fresh by itself. */
  #isOpen = false
  #isClosed = false

  constructor(source: DocumentSource<T>, freshness: Freshness, events: RemoteDocumentEvents) {
    this.#source = source
    this.#freshness = freshness
    this.#events = events
    this.#backOff = new BackOff(freshness)
  }

  /** Begins the first load, and keeps the document fresh from now on; resumes after `close()`. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#isClosed = false
    if (this.current() === undefined) void this.#attempt()
    else this.#schedule()
  }

  /**
   * The last good document, unless it is beyond its stale time. Never waits; asks for a new one
   * where that is due.
   */
  current(): T | undefined {
    const now = clock.now()
    // The timer does this too, but the timers of a machine that slept are late.
    if (now >= this.#dueAt && this.#isOpen) void this.#attempt()
    return now - this.#loadedAt < lastAge(this.#freshness) ? this.#value : undefined
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

  /**
   * Whether a load may begin out of turn: none is under way, and the wait after a failure is over.
   */
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
    this.#alarm.stop()
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
    this.#alarm.stop()
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
    this.#backOff.reset()
    this.#restUntil = this.#loadedAt
    this.#dueAt = this.#loadedAt + refreshAge(this.#freshness)
    this.#schedule()
    return true
  }

  #failed(reason: string): false {
    const now = clock.now()
    this.#restUntil = now + this.#backOff.next()
    // A document that is still fresh is not asked for earlier because one more look has failed.
    const refreshAt = this.#loadedAt + refreshAge(this.#freshness)
    this.#dueAt = Math.max(refreshAt, this.#restUntil)
    this.#schedule()
    this.#events.onFailure(reason, shownAddress(this.#source.url))
    return false
  }

  #schedule(): void {
    this.#alarm.stop()
    if (this.#isOpen) this.#dueAt = this.#alarm.set(this.#dueAt)
  }
}
