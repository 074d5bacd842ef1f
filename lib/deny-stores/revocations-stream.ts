import type { Changes, GivenEntry, KeptEntry } from '../deny-list/deny-entry.ts'
import type { DenyListSource } from '../deny-list/deny-list-source.ts'
import { TIMEOUT } from '../deny-list/pulls.ts'
import { clock } from '../outside/clock.ts'
import { ignoreRejection } from '../outside/thenable.ts'
import { Unusable } from '../outside/unusable.ts'
import { redisFailure } from './redis-failure.ts'
import { FIRST_ID, type RedisStream, type StreamItem } from './redis-stream.ts'
import { endedBefore, entryOf } from './stream-entry.ts'
import { StreamSweep } from './stream-sweep.ts'
import { StreamWakes } from './stream-wakes.ts'
import { Turns } from './turns.ts'

/** Items of one answer of the server. */
const PAGE = 1000

/** Most entries on their way to the server: a client that is offline keeps them all. */
const MOST_APPENDS = 10_000

/** The last item that was read. */
type Cursor = StreamItem

/** Stands for no item: all are read. */
const START: Cursor = { id: FIRST_ID, text: null }

/** A question that is not answered wholly, and goes on with the next one of the same cursor. */
interface Begun {
  readonly cursor: Cursor | null
  readonly entries: GivenEntry[]
  at: Cursor
}

/** Entries in a stream of Redis or Valkey. */
export class RevocationsStream implements DenyListSource<Cursor> {
  readonly #stream: RedisStream
  readonly #sweep: StreamSweep
  readonly #wakes: StreamWakes
  readonly #turns = new Turns()
  #begun: Begun | undefined
  /**
   * Up to where the list was read. An answer may come too late for the list: it counts once the
   * next question is asked with its cursor.
   */
  #position = FIRST_ID
  #appends = 0
  #tell: (reason: string) => void = () => {}

  constructor(stream: RedisStream) {
    this.#stream = stream
    this.#sweep = new StreamSweep(stream)
    this.#wakes = new StreamWakes(stream, () => this.#position)
  }

  listen(wake: () => void, tell: (reason: string) => void): void {
    this.#tell = tell
    this.#wakes.open(wake)
  }

  end(): void {
    this.#wakes.close()
  }

  async changes(cursor: Cursor | null): Promise<Changes<Cursor>> {
    const end = clock.now() + TIMEOUT
    if (cursor !== null) this.#position = cursor.id
    try {
      const { entries, at } = await this.#turns.take(() => this.#read(cursor, end))
      return { entries, cursor: at }
    } catch (error) {
      throw redisFailure(error)
    }
  }

  async append(entry: KeptEntry): Promise<void> {
    if (this.#appends >= MOST_APPENDS) throw new Unusable('too many at once')
    this.#appends += 1
    try {
      const id = await this.#stream.add(JSON.stringify(entry))
      // The entry is kept. Without the right to delete, somebody else has to.
      ignoreRejection(this.#sweep.run(Number.parseInt(id, 10)))
    } catch (error) {
      throw redisFailure(error)
    } finally {
      this.#appends -= 1
    }
  }

  /** Page by page. What was read counts when all of it is there. */
  async #read(cursor: Cursor | null, end: number): Promise<Begun> {
    if (this.#begun?.cursor !== cursor) this.#begun = { cursor, entries: [], at: cursor ?? START }
    const begun = this.#begun
    for (let isAll = false; !isAll; ) {
      if (clock.now() >= end) throw new Unusable('late')
      isAll = await this.#readPage(begun)
    }
    this.#begun = undefined
    return begun
  }

  /**
   * Reads from the last item on, and that one again. Only where it still is what it was, this is
   * the stream that was read, and no item stands before it that was not read: all are added at the
   * end. Else the server lost its data, was restored, or is a replica that was behind, and its ids
   * tell nothing: everything anew.
   */
  async #readPage(begun: Begun): Promise<boolean> {
    const { at } = begun
    const items = await this.#stream.range(at.id, PAGE)
    const isStart = at === START
    if (!isStart && !isSame(items[0], at)) {
      // One that has ended may have been deleted.
      if (!endedBefore(at, Date.now())) this.#tell('the deny list lost entries in its stream')
      begun.at = START
      this.#position = FIRST_ID
      return false
    }
    const fresh = isStart ? items : items.slice(1)
    for (const item of fresh) begun.entries.push(entryOf(item))
    begun.at = fresh.at(-1) ?? at
    return items.length < PAGE
  }
}

function isSame(item: StreamItem | undefined, other: StreamItem): boolean {
  return item?.id === other.id && item.text === other.text
}
