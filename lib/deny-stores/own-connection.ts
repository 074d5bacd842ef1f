import { ignoreRejection } from '../outside/thenable.ts'
import { Unusable } from '../outside/unusable.ts'
import { withinTime } from '../outside/within-time.ts'
import type { OwnStream } from './redis-stream.ts'

/**
 * Milliseconds that a question waits for items. Applications limit how long a connection may be
 * silent, to few seconds at least.
 */
const BLOCK = 2000

/** Milliseconds for an answer beyond that, and for a connection to open. */
const LATE = 5000

/** A connection that waits for items of a stream. When it is lost or late, it is of no more use. */
export class OwnConnection {
  readonly #stream: OwnStream
  #limit = new AbortController()
  #isClosed = false

  constructor(stream: OwnStream) {
    this.#stream = stream
    stream.onLost(() => this.close())
  }

  async open(): Promise<void> {
    await this.#ask(async () => {
      await this.#stream.open()
      // A client of the package redis goes on with what it began, even if it was destroyed.
      if (this.#isClosed) this.#stream.close()
    }, LATE)
  }

  /** Whether there are items beyond an id. Waits for one, but not for ever. */
  async hasBeyond(id: string): Promise<boolean> {
    return (await this.#ask(() => this.#stream.hasBeyond(id, BLOCK), BLOCK + LATE)) === true
  }

  /** Ends a question that is under way. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#limit.abort()
    // A client that is closed already may throw.
    ignoreRejection((async () => this.#stream.close())())
  }

  /** @throws Unusable, or what the client throws */
  #ask(question: () => unknown, milliseconds: number): Promise<unknown> {
    if (this.#isClosed) throw new Unusable('ended')
    this.#limit = new AbortController()
    return withinTime(question, milliseconds, this.#limit.signal)
  }
}
