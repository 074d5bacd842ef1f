import { entryPointOptions } from '../../../config/option-reader.ts'
import { Custom, LONGEST_SECONDS, Text } from '../../../config/option-types.ts'
import { clock } from '../../../platform/runtime/clock.ts'
import { ignoreRejection } from '../../../platform/runtime/maybe-promise.ts'
import { type DenyList, denyListFunction } from '../deny-list.ts'
import { checkRules, type DenyListRules, RULES } from '../deny-list-options.ts'
import { type KeptEntry, readEntry } from '../entry.ts'
import type { DenyListSource, Page } from '../poller.ts'
import {
  commandSender,
  isRedisClient,
  type RedisClient,
  type RedisStream,
  type StreamItem,
  streamOf,
} from './clients.ts'

/** The stream, and the rules of the list. */
export interface RedisDenyListOptions extends Partial<DenyListRules> {
  /**
   * A client of ioredis, iovalkey or redis, for Redis 5 or newer, or Valkey; also one of a cluster
   * or of sentinels. The application connects it, and closes it.
   */
  readonly client: RedisClient
  /**
   * The stream; a `keyPrefix` of the client comes before it. 1 to 512 characters. @default
   * 'tenant-auth:revocations'
   */
  readonly key?: string
}

const MEMBERS = {
  client: Custom('a client of ioredis, iovalkey or redis', isRedisClient),
  key: Text('a text of 1 to 512 characters', {
    maxLength: 512,
    default: 'tenant-auth:revocations',
  }),
  ...RULES,
}

/**
 * For the option `isRevoked`: a deny list whose entries are items of a stream in Redis or Valkey,
 * which all processes read. Entries that ended a day ago are deleted; one without `until` is stored
 * for 26 days, since any process may need it for so long.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function redisDenyList(given: RedisDenyListOptions): DenyList {
  const options = entryPointOptions('redisDenyList', given, MEMBERS)
  checkRules(options)
  const { client, key, ...rules } = options.finish()
  return denyListFunction(rules, streamSource(streamOf(client, key)))
}

const PAGE = 1000

const FIRST_ID = '0-0'

/** Milliseconds between two sweeps of the stream. */
const SWEEP_EVERY = 60_000

/** Milliseconds until the next sweep, if all of a page had ended. */
const SECOND = 1000

/** Milliseconds. Clocks differ, and entries count a little beyond their end. */
const LONG = 86_400_000

/** The cursor is the last item that was read. This one stands for none: all are read. */
const START: StreamItem = { id: FIRST_ID, text: null }

/** Entries as items of a stream. */
export function streamSource(stream: RedisStream) {
  const ask = commandSender(1, 'late')
  const add = commandSender()
  let sweepAt = Number.NEGATIVE_INFINITY
  /** A sweep goes on where the last one was, since entries at the beginning may last for years. */
  let sweepFrom = FIRST_ID
  /** The last item that was read. It should still be there when all is asked for after a failure. */
  let last = START
  const own = new UnreadItems()
  /** The last lost item was refused. */
  let isRefused = false

  /**
   * Deletes some entries that ended a day ago. Trimming a stream goes by the time at which items
   * were added, and would take entries that have not ended.
   *
   * @param serverTime in milliseconds; an entry is over by the server's clock and by ours
   */
  async function sweep(serverTime: number): Promise<void> {
    const now = clock.now()
    if (now < sweepAt) return
    sweepAt = now + SWEEP_EVERY
    const items = await stream.range(sweepFrom, PAGE)
    sweepFrom = items[PAGE - 1]?.id ?? FIRST_ID
    const before = Math.min(serverTime, Date.now()) - LONG
    const ended = items.filter((item) => hasEnded(item, before)).map(({ id }) => id)
    if (ended.length === PAGE) sweepAt = now + SECOND
    if (ended.length > 0) await stream.delete(ended)
  }

  /**
   * Adds what this process added, and the server has lost, until it is stored once more, and not
   * again: a replica that is cut off would have it added for ever. A server that has just taken
   * over may refuse it at first, and is then asked with one of them.
   */
  function mend(items: readonly StreamItem[], isEnd: boolean): string | undefined {
    const lost = own.missedIn(items, isEnd, isRefused ? 1 : PAGE)
    for (const item of lost) {
      item.isSent = true
      add(() => stream.add(item.text)).then(
        () => {
          isRefused = false
          own.delete(item)
        },
        () => {
          isRefused = true
          item.isSent = false
        },
      )
    }
    return lost.some(({ missed }) => missed === LOST_AFTER) ? LOST : undefined
  }

  return {
    /**
     * Reads from the last item on, and that one again. Only if it is as before, this is the stream
     * that was read, and no item stands before it that was not read: all are added at the end. Else
     * the server lost its data, was restored, or is a replica that was behind: everything anew.
     */
    async changes(cursor: StreamItem | null): Promise<Page<StreamItem>> {
      const at = cursor ?? last
      const items = await ask(() => stream.range(at.id, PAGE))
      const [first] = items
      const isThere = at === START || (first?.id === at.id && first.text === at.text)
      if (!isThere || (cursor === null && at !== START)) {
        // An item that ended a day ago may have been deleted, or sooner by a clock that is ahead.
        const notice = isThere || hasEnded(at, Date.now() - LONG / 2) ? undefined : LOST
        // A loss is noticed once.
        if (!isThere) last = START
        return { entries: [], cursor: START, hasMore: true, notice }
      }
      const fresh = at === START ? items : items.slice(1)
      last = fresh.at(-1) ?? at
      const hasMore = items.length === PAGE
      return {
        entries: entriesOf(fresh),
        keptAt: fresh.map(timeOf),
        cursor: last,
        hasMore,
        notice: mend(items, !hasMore),
      }
    },
    async append(entry: KeptEntry): Promise<void> {
      const text = JSON.stringify(entry)
      const id = await add(() => stream.add(text))
      if (isAfter(id, last.id)) own.note(id, text)
      // The entry is stored. Without the right to delete, somebody else has to.
      ignoreRejection(sweep(Number.parseInt(id, 10)))
    },
  } satisfies DenyListSource<StreamItem>
}

const LOST = 'the deny list lost entries in its stream'

/** A replica may be behind once. */
const LOST_AFTER = 2

/** Most characters of unread items. A process that reads nothing does not fill its memory. */
const MOST_UNREAD = 4 * 1024 * 1024

interface UnreadItem {
  readonly id: string
  readonly text: string
  /** The number of answers up to the end of the stream that had it not. */
  missed: number
  /** It is being added once more. */
  isSent: boolean
}

/**
 * Items of this process that it has not read yet. A failover, or FLUSHALL, soon after they were
 * added loses them, and the item that was read last may be there all the same.
 */
class UnreadItems {
  /** By text: an item that was added once more has another id. */
  readonly #items = new Map<string, UnreadItem>()
  #size = 0

  note(id: string, text: string): void {
    const known = this.#items.get(text)
    if (known !== undefined) this.delete(known)
    this.#items.set(text, { id, text, missed: 0, isSent: false })
    this.#size += text.length
    for (const oldest of this.#items.values()) {
      if (this.#size <= MOST_UNREAD) break
      this.delete(oldest)
    }
  }

  delete(item: UnreadItem): void {
    if (this.#items.get(item.text) !== item) return
    this.#items.delete(item.text)
    this.#size -= item.text.length
  }

  /**
   * Those that are lost and are not on their way, the oldest first.
   *
   * @param isEnd whether the items are the last ones of the stream
   */
  missedIn(items: readonly StreamItem[], isEnd: boolean, most: number): UnreadItem[] {
    for (const { id, text } of items) {
      const item = text === null ? undefined : this.#items.get(text)
      if (item !== undefined && !isAfter(item.id, id)) this.delete(item)
    }
    const lost: UnreadItem[] = []
    if (!isEnd) return lost
    const now = Date.now()
    for (const item of this.#items.values()) {
      item.missed += 1
      if (item.missed < LOST_AFTER || item.isSent || lost.length === most) continue
      if (hasEnded(item, now)) this.delete(item)
      else lost.push(item)
    }
    return lost
  }
}

/** Ids are a time and a number, as BigInt takes them. */
function isAfter(id: string, other: string): boolean {
  const [time = 0n, serial = 0n] = id.split('-').map(BigInt)
  const [otherTime = 0n, otherSerial = 0n] = other.split('-').map(BigInt)
  return time > otherTime || (time === otherTime && serial > otherSerial)
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
    return (until ?? timeOf(item) + LONGEST_SECONDS * 1000) < before
  } catch {
    return false
  }
}
