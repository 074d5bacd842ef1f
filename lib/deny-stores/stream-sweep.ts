import { clock } from '../outside/clock.ts'
import { FIRST_ID, type RedisStream } from './redis-stream.ts'
import { endedBefore } from './stream-entry.ts'

/** Milliseconds between two sweeps. */
const EVERY = 60_000

/** Items that one sweep looks at. */
const MOST = 1000

/** Milliseconds. Clocks differ, and entries count a little beyond their end. */
const LONG = 86_400_000

/**
 * Deletes entries that ended a day ago. Trimming a stream goes by the time at which items were
 * added, and would take entries that have not ended.
 */
export class StreamSweep {
  readonly #stream: RedisStream
  #dueAt = Number.NEGATIVE_INFINITY
  /** It goes on where it was last time, since entries at the beginning may last for years. */
  #from = FIRST_ID

  constructor(stream: RedisStream) {
    this.#stream = stream
  }

  /** @param serverTime in milliseconds; an entry is over by the server's clock and by ours */
  async run(serverTime: number): Promise<void> {
    const now = clock.now()
    if (now < this.#dueAt) return
    this.#dueAt = now + EVERY
    const items = await this.#stream.range(this.#from, MOST)
    const last = items.length < MOST ? undefined : items.at(-1)
    this.#from = last?.id ?? FIRST_ID
    const before = Math.min(serverTime, Date.now()) - LONG
    const ended = items.filter((item) => endedBefore(item, before)).map(({ id }) => id)
    if (ended.length > 0) await this.#stream.delete(ended)
  }
}
