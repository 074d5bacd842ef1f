import { clock } from '../runtime/clock.ts'
import { Alarm, TimeLimit } from '../runtime/timer.ts'
import { type DocumentState, DocumentStatus, type ReportChange } from './document-status.ts'
import { reasonOf } from './failure.ts'
import { type Freshness, LoadSchedule, wholeFreshness } from './freshness.ts'
import { redactUrl } from './urls.ts'

// Outside: other servers, which may be slow, fail, or be away for an hour.

export interface RemoteDocumentEvents {
  /** A load failed. `reason` is constant text, `url` the address without secrets. */
  onFailure(reason: string, url: string | null): void
  readonly onChange?: ReportChange
}

export interface DocumentSource<T> {
  readonly url: string
  /** @throws Unusable, whose message is logged */
  load(limit: TimeLimit): Promise<T>
  /** Called with each document once it serves, if only those who have waited for it. */
  onLoaded?(value: T): void
}

/**
 * A document of another server, kept fresh in the background, by a timer or by those who use it
 * (`isLazy`). One load at a time; a failed load never replaces a good document; requests that have
 * one never wait.
 */
export class RemoteDocument<T> {
  readonly #source: DocumentSource<T>
  readonly #freshness: Required<Freshness>
  readonly #events: RemoteDocumentEvents
  readonly #schedule: LoadSchedule
  readonly #status: DocumentStatus
  readonly #alarm = new Alarm(() => void this.#attempt())
  #value: T | undefined
  #running: Promise<T | undefined> | undefined
  #limit: TimeLimit | undefined
  /** `forget()` was called during the load that is under way. */
  #isForgotten = false
  #isOpen = false
  #isClosed = false
  /** Until this reading of `clock` the document serves, and nothing is due. */
  #quietUntil = Number.NEGATIVE_INFINITY

  constructor(source: DocumentSource<T>, freshness: Freshness, events: RemoteDocumentEvents) {
    this.#source = source
    this.#freshness = wholeFreshness(freshness)
    this.#events = events
    this.#schedule = new LoadSchedule(this.#freshness)
    this.#status = new DocumentStatus(freshness, events.onChange ?? (() => {}))
  }

  /** Begins the first load, unless it is lazy, and keeps it fresh; resumes after `close()`. */
  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#isClosed = false
    if (this.#freshness.isLazy) return
    if (this.current() === undefined) void this.#attempt()
    else this.#setAlarm()
  }

  /**
   * The last good document, unless it is beyond its stale time. Never waits; asks for a new one if
   * that is due.
   */
  current(): T | undefined {
    const now = clock.now()
    if (now < this.#quietUntil) return this.#value
    // A timer does this too, but the timers of a machine that slept are late.
    if (this.#schedule.isDue(now) && this.#isOpen) void this.#attempt()
    const serves = this.#schedule.serves(now)
    this.#status.look(now, serves)
    if (!serves) return undefined
    this.#quietUntil = Math.min(
      this.#schedule.dueAt,
      this.#schedule.servesUntil,
      this.#status.olderAt,
    )
    return this.#value
  }

  /** `current()`, after the load that is under way if there is no document yet. */
  async settled(): Promise<T | undefined> {
    // After `forget()` only a load that began after it counts.
    if (this.#isForgotten) await this.#running
    return this.current() ?? (await this.#running) ?? this.current()
  }

  get running(): Promise<unknown> | undefined {
    return this.#running
  }

  /** A load may begin out of turn: none is under way, and the wait after a failure is over. */
  get mayLoad(): boolean {
    return this.#isOpen && this.#running === undefined && this.#schedule.hasRested
  }

  /** A load that began after this call; resolves to whether it succeeded. */
  reload(): Promise<boolean> {
    const loading = this.#running?.then(() => this.#attempt()) ?? this.#attempt()
    return loading.then((loaded) => loaded !== undefined)
  }

  /**
   * Drops the document. It is loaded anew. A load that is under way serves those who wait for it:
   * if it were ended, who forgets again and again would let nobody have a document. Nobody waits
   * for one as long as a document serves, so that one is ended: it may hang.
   */
  forget(): void {
    if (this.#schedule.serves(clock.now())) this.#endLoad()
    this.#quietUntil = Number.NEGATIVE_INFINITY
    this.#schedule.forget()
    if (this.#value !== undefined) this.#status.ended()
    this.#value = undefined
    if (this.#running !== undefined) this.#isForgotten = true
    else if (this.#isOpen) void this.#attempt()
  }

  get retryAfter(): number {
    return this.#schedule.retryAfter
  }

  state(): DocumentState {
    return this.#status.state
  }

  close(): void {
    this.#isOpen = false
    this.#isClosed = true
    this.#alarm.stop()
    this.#endLoad()
  }

  #endLoad(): void {
    if (this.#running !== undefined) this.#schedule.ended()
    this.#quietUntil = Number.NEGATIVE_INFINITY
    this.#limit?.abort()
    this.#limit = undefined
    this.#running = undefined
    this.#isForgotten = false
  }

  #attempt(): Promise<T | undefined> {
    if (this.#isClosed) return Promise.resolve(undefined)
    if (this.#running !== undefined) return this.#running
    const running = this.#loadOnce()
      // Whatever an application's logger throws must not end the process.
      .catch(() => undefined)
      .finally(() => {
        if (this.#running === running) this.#leave()
      })
    this.#running = running
    return running
  }

  #leave(): void {
    this.#running = undefined
    if (!this.#isForgotten) return
    this.#isForgotten = false
    void this.#attempt()
  }

  /** Undefined: it has failed, or `close()` has ended it. */
  async #loadOnce(): Promise<T | undefined> {
    const { timeout, patience } = this.#freshness
    const limit = new TimeLimit({ work: timeout * 1000, wait: patience * 1000 })
    this.#limit = limit
    this.#schedule.began()
    try {
      const loading = this.#source.load(limit)
      const value = await loading.finally(() => limit.end())
      if (this.#limit !== limit) return undefined
      if (!this.#isForgotten) this.#succeeded(value)
      this.#source.onLoaded?.(value)
      return value
    } catch (error) {
      // A load that `close()` has ended is no failure.
      if (this.#limit === limit) this.#failed(reasonOf(error))
      return undefined
    }
  }

  #succeeded(value: T): void {
    this.#quietUntil = Number.NEGATIVE_INFINITY
    this.#value = value
    this.#schedule.succeeded()
    this.#status.fetched()
    this.#setAlarm()
  }

  #failed(reason: string): void {
    this.#quietUntil = Number.NEGATIVE_INFINITY
    this.#schedule.failed()
    this.#status.failed(reason)
    this.#setAlarm()
    this.current()
    this.#events.onFailure(reason, redactUrl(this.#source.url))
  }

  #setAlarm(): void {
    if (!this.#isOpen || this.#freshness.isLazy) return
    this.#schedule.dueAt = this.#alarm.set(this.#schedule.dueAt)
  }
}
