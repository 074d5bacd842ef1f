import { Alarm } from '../outside/alarm.ts'
import { clock } from '../outside/clock.ts'
import { errorCode, isThrown } from '../outside/error-code.ts'
import { ignoreRejection } from '../outside/thenable.ts'
import { Unusable } from '../outside/unusable.ts'
import { withinTime } from '../outside/within-time.ts'
import type { Denials } from './denials.ts'
import type { DenyListRules } from './deny-list-options.ts'
import type { DenyListSource } from './deny-list-source.ts'
import { readChanges } from './read-changes.ts'
import { WallClock } from './wall-clock.ts'

/** Milliseconds for one answer of a source. */
export const TIMEOUT = 10_000

/** Milliseconds between two readings of all entries that are due because some had no room. */
const ANEW_EVERY = 60_000

export interface PullsEvents {
  /** @param error what the source has thrown, or Unusable */
  onFailure(reason: string, error: unknown): void
  /** @param at when the question began: a reading of `clock` */
  onSuccess(at: number): void
}

/** Brings the entries of a source into memory: one question at a time, again and again. */
export class Pulls<Cursor> {
  readonly #source: DenyListSource<Cursor>
  readonly #rules: DenyListRules
  readonly #denials: Denials
  readonly #events: PullsEvents
  readonly #alarm = new Alarm(() => ignoreRejection(this.#pull()))
  readonly #wallClock = new WallClock()
  #cursor: Cursor | null = null
  #running: Promise<void> | undefined
  #limit: AbortController | undefined
  #isOpen = false
  #isWoken = false
  // Readings of `clock`, in milliseconds.
  #dueAt = Number.POSITIVE_INFINITY
  #anewAt = Number.NEGATIVE_INFINITY
  /** When the question began that was answered last. */
  #currentAt = Number.NEGATIVE_INFINITY

  constructor(
    source: DenyListSource<Cursor>,
    rules: DenyListRules,
    denials: Denials,
    events: PullsEvents,
  ) {
    this.#source = source
    this.#rules = rules
    this.#denials = denials
    this.#events = events
  }

  begin(): void {
    this.#isOpen = true
    ignoreRejection(this.#pull())
  }

  /** Ends a question that is under way, and asks no further ones. */
  end(): void {
    this.#isOpen = false
    this.#alarm.stop()
    this.#dueAt = Number.POSITIVE_INFINITY
    this.#limit?.abort()
    this.#running = undefined
  }

  /** There may be changes. A question that is under way may have come too early for them. */
  wake(): void {
    if (!this.#isOpen) return
    this.#isWoken = true
    if (this.#running === undefined) this.#schedule(clock.now())
  }

  /** Resolves when a question has been answered that began after this call. */
  async ready(): Promise<void> {
    await this.#running?.catch(() => {})
    await this.#pull()
  }

  /** Milliseconds since the list was that of the source. Infinity: it never was. */
  get age(): number {
    const now = clock.now()
    // An alarm does this too, but the timers of a machine that slept are late.
    if (now >= this.#dueAt) ignoreRejection(this.#pull())
    return now - this.#currentAt
  }

  #pull(): Promise<void> {
    if (this.#running !== undefined) return this.#running
    const running = this.#ask().finally(() => {
      if (this.#running !== running) return
      this.#running = undefined
      if (this.#isWoken) this.wake()
    })
    this.#running = running
    return running
  }

  async #ask(): Promise<void> {
    const startedAt = clock.now()
    const limit = new AbortController()
    this.#limit = limit
    this.#isWoken = false
    this.#alarm.stop()
    this.#dueAt = Number.POSITIVE_INFINITY
    if (this.#isAnewDue(startedAt)) this.#cursor = null
    const cursor = this.#cursor
    const endAnew = cursor === null ? this.#denials.beginAnew() : undefined
    try {
      const answer = await withinTime(() => this.#source.changes(cursor), TIMEOUT, limit.signal)
      this.#take(answer)
      endAnew?.()
      this.#currentAt = startedAt
      this.#events.onSuccess(startedAt)
    } catch (error) {
      const reason = isThrown(error, Unusable) ? error.message : errorCode(error)
      if (!limit.signal.aborted) this.#events.onFailure(reason, error)
      throw error
    } finally {
      if (this.#limit === limit && this.#isOpen) {
        this.#schedule(startedAt + this.#rules.interval * 1000)
      }
    }
  }

  #take(answer: unknown): void {
    this.#denials.sweep()
    this.#cursor = readChanges<Cursor>(answer, (denial) => this.#denials.add(denial))
  }

  /** Entries that had ended by the wall clock then, or had no room, may be missing. */
  #isAnewDue(now: number): boolean {
    const wasSet = this.#wallClock.wasSet()
    const hasRested = this.#denials.hasLost && now - this.#anewAt >= ANEW_EVERY
    if (!wasSet && !hasRested) return false
    this.#anewAt = now
    return true
  }

  #schedule(at: number): void {
    this.#dueAt = this.#alarm.set(at)
  }
}
