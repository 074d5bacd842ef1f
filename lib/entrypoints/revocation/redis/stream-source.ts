import { Unusable } from '../../../platform/http/failure.ts'
import { clock } from '../../../platform/runtime/clock.ts'
import { ignoreRejection } from '../../../platform/runtime/maybe-promise.ts'
import { type DenyListSource, LONGEST_LIFETIME, type Page } from '../deny-list-options.ts'
import { type KeptEntry, readEntry } from '../entry.ts'
import { FIRST_ID, type RedisStream, type StreamItem } from './clients.ts'

/** Items of one answer of the server. */
const PAGE = 1000

/** Most entries on their way to the server: a client that is offline queues them all. */
const MOST_APPENDS = 10_000

/** Milliseconds between two sweeps of the stream. */
const SWEEP_EVERY = 60_000

/** Milliseconds. Clocks differ, and entries count a little beyond their end. */
const LONG = 86_400_000

/** The last item that was read. */
type Cursor = StreamItem

/** Stands for no item: all are read. */
const START: Cursor = { id: FIRST_ID, text: null }

/** Entries in a stream of Redis or Valkey. */
export class RevocationsStream implements DenyListSource<Cursor> {
  readonly #stream: RedisStream
  #isAsked = false
  #appends = 0
  /** A reading of `clock`. */
  #sweepAt = Number.NEGATIVE_INFINITY
  /** A sweep goes on where the last one was, since entries at the beginning may last for years. */
  #sweepFrom = FIRST_ID

  constructor(stream: RedisStream) {
    this.#stream = stream
  }

  /**
   * Reads from the last item on, and that one again. Only if it is as before, this is the stream
   * that was read, and no item stands before it that was not read: all are added at the end. Else
   * the server lost its data, was restored, or is a replica that was behind: everything anew.
   */
  async changes(cursor: Cursor | null): Promise<Page<Cursor>> {
    const at = cursor ?? START
    const items = await this.#range(at.id)
    if (at !== START && !isSame(items[0], at)) {
      // One that has ended may have been deleted.
      const notice = hasEnded(at, Date.now()) ? undefined : LOST
      return { entries: [], cursor: START, hasMore: true, notice }
    }
    const fresh = at === START ? items : items.slice(1)
    return {
      entries: entriesOf(fresh),
      keptAt: fresh.map(timeOf),
      cursor: fresh.at(-1) ?? at,
      hasMore: items.length === PAGE,
    }
  }

  async append(entry: KeptEntry): Promise<void> {
    if (this.#appends >= MOST_APPENDS) throw new Unusable('too many at once')
    this.#appends += 1
    try {
      const id = await this.#stream.add(JSON.stringify(entry))
      // The entry is stored. Without the right to delete, somebody else has to.
      ignoreRejection(this.#sweep(Number.parseInt(id, 10)))
    } catch (error) {
      throw redisFailure(error)
    } finally {
      this.#appends -= 1
    }
  }

  /** One question at a time: a client that is offline queues each of them until it is back. */
  async #range(from: string): Promise<StreamItem[]> {
    if (this.#isAsked) throw new Unusable('late')
    this.#isAsked = true
    try {
      return await this.#stream.range(from, PAGE)
    } catch (error) {
      throw redisFailure(error)
    } finally {
      this.#isAsked = false
    }
  }

  /**
   * Deletes some entries that ended a day ago. Trimming a stream goes by the time at which items
   * were added, and would take entries that have not ended.
   *
   * @param serverTime in milliseconds; an entry is over by the server's clock and by ours
   */
  async #sweep(serverTime: number): Promise<void> {
    const now = clock.now()
    if (now < this.#sweepAt) return
    this.#sweepAt = now + SWEEP_EVERY
    const items = await this.#stream.range(this.#sweepFrom, PAGE)
    const last = items.length < PAGE ? undefined : items.at(-1)
    this.#sweepFrom = last?.id ?? FIRST_ID
    const before = Math.min(serverTime, Date.now()) - LONG
    const ended = items.filter((item) => hasEnded(item, before)).map(({ id }) => id)
    if (ended.length > 0) await this.#stream.delete(ended)
  }
}

const LOST = 'the deny list lost entries in its stream'

function isSame(item: StreamItem | undefined, other: StreamItem): boolean {
  return item?.id === other.id && item.text === other.text
}

/** Unchecked, one by one: they are read in slices. `null` stands for what is no JSON. */
function* entriesOf(items: readonly StreamItem[]): Generator<unknown> {
  for (const { text } of items) yield parsed(text)
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return null
  }
}

/** When the server took it. */
function timeOf({ id }: StreamItem): number {
  return Number.parseInt(id, 10)
}

/**
 * An entry ended before a time, in any process: each ends those without an end by a rule of its
 * own. An entry that cannot be read has no end.
 */
function hasEnded(item: StreamItem, before: number): boolean {
  try {
    const { until } = readEntry(parsed(item.text))
    return (until ?? timeOf(item) + LONGEST_LIFETIME * 1000) < before
  } catch {
    return false
  }
}

/** The first words of answers that refuse a command. */
const CODES = new Set([
  ...['ERR', 'NOAUTH', 'NOPERM', 'WRONGPASS', 'WRONGTYPE', 'READONLY', 'OOM', 'LOADING'],
  ...['MISCONF', 'NOREPLICAS', 'MASTERDOWN', 'CLUSTERDOWN', 'CROSSSLOT', 'MOVED', 'ASK'],
  ...['TRYAGAIN', 'BUSY', 'UNBLOCKED'],
])

/** A server refused a command. Its words are not repeated: they may hold an entry. */
export class RedisFailure extends Error {
  readonly code: string

  constructor(code: string) {
    super('the server refused a command')
    this.code = code
  }
}

/** The error of a client, or the code that a server's words begin with. */
export function redisFailure(error: unknown): unknown {
  const [code = ''] = messageOf(error).split(' ', 1)
  return CODES.has(code) ? new RedisFailure(code) : error
}

/** Empty if it has none that can be read. */
function messageOf(error: unknown): string {
  try {
    return String(Object(error).message)
  } catch {
    return ''
  }
}
