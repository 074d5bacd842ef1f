import { setImmediate } from 'node:timers/promises'
import {
  type CallbackFailure,
  LATE,
  thrown,
  unusable,
} from '../../platform/callbacks/call-with-timeout.ts'
import { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { Unusable } from '../../platform/http/failure.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { isThrown } from '../../platform/runtime/error.ts'
import { ignoreRejection } from '../../platform/runtime/maybe-promise.ts'
import { ownCopy } from '../../platform/runtime/own-property.ts'
import { Alarm } from '../../platform/runtime/timer.ts'
import type { DenyListRules, DenyListSource, Page } from './deny-list-options.ts'
import { readEntry } from './entry.ts'
import type { EntryStore, Telling } from './memory/entry-store.ts'

/** Milliseconds for one answer of a source. */
export const TIMEOUT = 10_000

/** Milliseconds after which requests have their turn while entries are taken. */
const SLICE = 5

/** Milliseconds by which the clocks may drift apart before all entries are read anew. */
const DRIFT = 2000

export interface PollerEvents {
  onFailure(error: unknown): void
  /** @param at when the question began: a reading of `clock` */
  onSuccess(at: number): void
  /** @param notice for the operator, in constant words */
  onNotice(notice: string): void
}

/** Brings the entries of a source into memory: one question at a time, again and again. */
export class Poller<Cursor> {
  readonly #source: DenyListSource<Cursor>
  readonly #rules: DenyListRules
  readonly #store: EntryStore
  readonly #events: PollerEvents
  readonly #alarm = new Alarm(() => ignoreRejection(this.#pull()))
  /** Null: all entries are asked for. */
  #cursor: Cursor | null = null
  #serial = 0
  #running: Promise<void> | undefined
  #waits = new PendingRequests()
  #isOpen = false
  #isWoken = false
  /** How far the wall clock was ahead of `clock` at most since all entries were asked for. */
  #apart = Number.NEGATIVE_INFINITY
  // Readings of `clock`, in milliseconds.
  #dueAt = Number.POSITIVE_INFINITY
  /** When the question began that was answered last. */
  #currentAt = Number.NEGATIVE_INFINITY

  constructor(
    source: DenyListSource<Cursor>,
    rules: DenyListRules,
    store: EntryStore,
    events: PollerEvents,
  ) {
    this.#source = source
    this.#rules = rules
    this.#store = store
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
    this.#waits.end()
    this.#running = undefined
    // Its answer may have been taken in part.
    this.#cursor = null
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
    const waits = new PendingRequests()
    this.#waits = waits
    this.#isWoken = false
    this.#alarm.stop()
    this.#dueAt = Number.POSITIVE_INFINITY
    if (this.#wasSetBack()) this.#cursor = null
    this.#serial += 1
    const by = { serial: this.#serial, isAnew: this.#cursor === null }
    try {
      while (await this.#takePage(by, waits));
      this.#currentAt = startedAt
      this.#events.onSuccess(startedAt)
    } catch (error) {
      // The next answers of a server that failed may not go on from where it was.
      if (this.#waits === waits) this.#cursor = null
      if (!waits.isOver) this.#events.onFailure(error)
      throw error
    } finally {
      if (this.#waits === waits && this.#isOpen) {
        this.#schedule(startedAt + this.#rules.interval * 1000)
      }
    }
  }

  /** Returns whether there are more. */
  async #takePage(by: Telling, waits: PendingRequests): Promise<boolean> {
    const page = ownCopy(await inTime(() => this.#source.changes(this.#cursor), waits))
    if (page.notice !== undefined) this.#events.onNotice(page.notice)
    await this.#take(page, by, waits)
    this.#cursor = page.cursor
    return page.hasMore === true
  }

  /**
   * In slices, so that requests have their turn. If one entry cannot be read, all others count, and
   * the answer is a failure all the same, so that it is asked for again.
   */
  async #take(
    { entries, keptAt }: Page<Cursor>,
    by: Telling,
    waits: PendingRequests,
  ): Promise<void> {
    let failure: unknown
    let sliceEnd = performance.now() + SLICE
    let index = 0
    for (const entry of entries) {
      try {
        this.#add(entry, keptAt?.[index], by)
      } catch (error) {
        failure ??= error
      }
      index += 1
      if (performance.now() < sliceEnd) continue
      await setImmediate()
      if (waits.isOver) break
      sliceEnd = performance.now() + SLICE
    }
    if (waits.isOver) throw ended()
    if (failure !== undefined) throw failure
  }

  #add(entry: unknown, keptAt: number | undefined, by: Telling): void {
    const { names, issuedBefore, until } = readEntry(entry)
    const life = this.#rules.maxLifetime * 1000
    const end = until ?? (keptAt === undefined ? null : keptAt + life)
    const ending = end === null ? null : { end, isNamed: until !== null }
    this.#store.add(names, issuedBefore, ending, by)
  }

  /**
   * The wall clock may be set back in small steps. Then entries that had ended may be missing. A
   * clock that goes forward, and back again, was set back.
   */
  #wasSetBack(): boolean {
    const apart = Date.now() - clock.now()
    const isBack = apart < this.#apart - DRIFT
    this.#apart = isBack ? apart : Math.max(this.#apart, apart)
    return isBack
  }

  #schedule(at: number): void {
    this.#dueAt = this.#alarm.set(at)
  }
}

/**
 * The answer of a source, or of a function of the application.
 *
 * @throws Unusable, or the error of the function
 */
export function inTime<T>(ask: () => T | Promise<T>, waits = new PendingRequests()): Promise<T> {
  const answer = (async (): Promise<T> => ask())()
  const late = () => new Unusable(NO_ANSWER)
  return waits.waitWithin(answer, { milliseconds: TIMEOUT, late, ended, keepsAlive: false })
}

/** The failure of a source, or of a function of the application. */
export function failureOf(error: unknown): CallbackFailure {
  if (!isThrown(error, Unusable)) return thrown(error)
  return error.message === NO_ANSWER ? LATE : unusable(error)
}

const NO_ANSWER = 'late'

function ended(): Unusable {
  return new Unusable('ended')
}
