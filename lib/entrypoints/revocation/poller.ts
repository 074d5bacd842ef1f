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
import type { DenyListRules } from './deny-list-options.ts'
import { type KeptEntry, readEntry } from './entry.ts'
import type { EntryStore, Pull } from './memory/entry-store.ts'

export const TIMEOUT = 10_000

/** Milliseconds after which requests have their turn while entries are taken. */
const SLICE = 5

/** Milliseconds by which the clocks may drift apart before all entries are read anew. */
const DRIFT = 2000

/**
 * As long as an entry cannot be read, all are read again and again. A rest between two readings is
 * so many times as long as the reading was.
 */
const REST = 9

/** Milliseconds. */
const LONGEST_REST = 60_000

export interface DenyListSource<Cursor> {
  /**
   * Entries that were added since a cursor, or all; may repeat earlier ones.
   *
   * @param cursor that of the last answer; null: all entries that have not ended
   */
  changes(cursor: Cursor | null): Promise<Page<Cursor>>
  /** Stores an entry, so that `changes` returns it in every process. */
  append?: ((entry: KeptEntry) => unknown) | undefined
}

export interface Page<Cursor> {
  /** Unchecked: an entry that cannot be read is a failure. */
  readonly entries: Iterable<unknown>
  /** Handed to the next question. */
  readonly cursor: Cursor
  /** When the store took each of them, in milliseconds since the epoch. Absent: not known. */
  readonly keptAt?: readonly number[]
  /** There are more now. */
  readonly hasMore?: boolean
  /** A message for the operator, in constant words. */
  readonly notice?: string | undefined
}

interface PollerEvents {
  onFailure(error: unknown): void
  /** @param at when the question began: a reading of `clock` */
  onSuccess(at: number): void
  /** @param notice for the operator, in constant words */
  onNotice(notice: string): void
}

/** Brings the entries of a source into memory: one question at a time, again and again. */
export function startPoller<Cursor>(
  source: DenyListSource<Cursor>,
  { interval, maxLifetime }: DenyListRules,
  store: EntryStore,
  { onFailure, onSuccess, onNotice }: PollerEvents,
) {
  const alarm = new Alarm(() => ignoreRejection(pull()))
  /** Null: all entries are asked for. */
  let cursor: Cursor | null = null
  let serial = 0
  let running: Promise<void> | undefined
  let current = new PendingRequests()
  let isOpen = false
  let isWoken = false
  /** The most by which the wall clock was ahead of `clock` since all entries were asked for. */
  let apart = Number.NEGATIVE_INFINITY
  // Readings of `clock`, in milliseconds.
  let dueAt = Number.POSITIVE_INFINITY
  /** When the question began that was answered last. */
  let currentAt = Number.NEGATIVE_INFINITY
  let restsUntil = Number.NEGATIVE_INFINITY

  /** @returns when the next question begins */
  function askAt(time: number): number {
    return alarm.set(Math.max(time, restsUntil))
  }

  function pull(): Promise<void> {
    if (running !== undefined) return running
    const startedAt = clock.now()
    const asking = ask(startedAt).finally(() => {
      if (running !== asking) return
      running = undefined
      // In the same turn: a service that comes later finds no question under way, and asks.
      if (isOpen) dueAt = askAt(isWoken ? clock.now() : startedAt + interval * 1000)
    })
    running = asking
    return asking
  }

  async function ask(startedAt: number): Promise<void> {
    const waits = new PendingRequests()
    current = waits
    isWoken = false
    stopAlarm()
    if (wasSetBack()) cursor = null
    serial += 1
    const by = { serial, isAnew: cursor === null }
    try {
      await takePages(by, startedAt, waits)
      currentAt = startedAt
      onSuccess(startedAt)
    } catch (error) {
      // The next answers of a server that failed may not go on from where it was.
      if (current === waits) cursor = null
      if (!waits.isOver) onFailure(error)
      throw error
    }
  }

  /**
   * If one entry cannot be read, all others count, those of later pages too. The answer is a
   * failure all the same, so that all are asked for again.
   */
  async function takePages(by: Pull, startedAt: number, waits: PendingRequests): Promise<void> {
    let failure: unknown
    let hasMore = true
    while (hasMore) {
      const page = ownCopy(await inTime(() => source.changes(cursor), waits))
      if (page.notice !== undefined) onNotice(page.notice)
      const found = await take(page, by, waits)
      failure ??= found
      cursor = page.cursor
      hasMore = page.hasMore === true
    }
    if (failure === undefined) return
    const now = clock.now()
    restsUntil = now + Math.min(REST * (now - startedAt), LONGEST_REST)
    throw failure
  }

  /**
   * In slices, so that requests have their turn.
   *
   * @returns the failure of the first entry that cannot be read; undefined: there is none
   */
  async function take(
    { entries, keptAt, hasMore }: Page<Cursor>,
    by: Pull,
    waits: PendingRequests,
  ): Promise<unknown> {
    let failure: unknown
    let sliceEnd = performance.now() + SLICE
    let index = 0
    for (const entry of entries) {
      try {
        add(entry, keptAt?.[index], by)
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
    // Even if it is a failure, entries that it has not do not come again.
    if (hasMore !== true) store.noteAnswer(by.serial)
    return failure
  }

  function add(entry: unknown, keptAt: number | undefined, by: Pull): void {
    const { names, issuedBefore, until } = readEntry(entry)
    // The clock of the store may have been ahead when it took the entry.
    const since = keptAt === undefined ? undefined : Math.min(keptAt, Date.now())
    const end = until ?? (since === undefined ? null : since + maxLifetime * 1000)
    store.add(names, issuedBefore, end === null ? null : { end, isNamed: until !== null }, by)
  }

  /**
   * The wall clock may be set back in small steps. Then entries that had ended may be missing. A
   * clock that goes forward, and back again, was set back.
   */
  function wasSetBack(): boolean {
    const now = Date.now() - clock.now()
    const isBack = now < apart - DRIFT
    apart = isBack ? now : Math.max(apart, now)
    return isBack
  }

  function stopAlarm(): void {
    alarm.stop()
    dueAt = Number.POSITIVE_INFINITY
  }

  /** There may be changes. A question that is under way may have come too early for them. */
  function wake(): void {
    // Another message must not put off the question that is due.
    if (!isOpen || isWoken) return
    isWoken = true
    if (running === undefined) dueAt = askAt(clock.now())
  }

  return {
    begin(): void {
      isOpen = true
      ignoreRejection(pull())
    },
    /** Ends a question that is under way, and asks no further ones. */
    end(): void {
      isOpen = false
      stopAlarm()
      current.end()
      running = undefined
      // Its answer may have been taken in part.
      cursor = null
    },
    wake,
    /** Resolves when a question has been answered that began after this call. */
    async ready(): Promise<void> {
      await running?.catch(() => {})
      await pull()
    },
    /** Milliseconds since the list was that of the source. Infinity: it never was. */
    get age(): number {
      const now = clock.now()
      // An alarm does this too, but the timers of a machine that slept are late.
      if (now >= dueAt) ignoreRejection(pull())
      return now - currentAt
    },
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
