import { Alarm } from '../outside/alarm.ts'
import { BackOff } from '../outside/back-off.ts'
import { clock } from '../outside/clock.ts'
import { ignoreRejection } from '../outside/thenable.ts'
import { OwnConnection } from './own-connection.ts'
import type { RedisStream } from './redis-stream.ts'

/** Seconds between two attempts to connect. */
const REST = { retry: 1, retryMax: 30 }

/** Seconds between two wakes: they grow while waking does not bring what is there. */
const PAUSE = { retry: 0.05, retryMax: 30 }

/**
 * Tells that a stream has more than was read. It waits on a connection of its own with a blocking
 * read, not with a subscription. The stream itself is what wakes, so an append is one command, an
 * entry of any writer wakes, and a reader needs no right to a channel. A blocking read begins where
 * the list stands, so that what came while there was no connection wakes too. And it always has an
 * answer within a limit, so that a dead connection is noticed.
 */
export class StreamWakes {
  readonly #stream: RedisStream
  readonly #position: () => string
  #wake: (() => void) | undefined
  #connection: OwnConnection | undefined

  /** @param position the id up to which the stream was read */
  constructor(stream: RedisStream, position: () => string) {
    this.#stream = stream
    this.#position = position
  }

  open(wake: () => void): void {
    this.#wake = wake
    ignoreRejection(this.#run(wake))
  }

  close(): void {
    this.#wake = undefined
    this.#connection?.close()
  }

  async #run(wake: () => void): Promise<void> {
    const rest = new BackOff(REST)
    while (this.#wake === wake) {
      // Why it failed does not matter: the list is read without it, and tells what fails there.
      await this.#follow(wake, rest).catch(() => {})
      await pause(rest)
    }
  }

  async #follow(wake: () => void, rest: BackOff): Promise<void> {
    const connection = new OwnConnection(this.#stream.duplicate())
    this.#connection = connection
    try {
      await connection.open()
      await this.#wait(connection, wake, rest)
    } finally {
      connection.close()
    }
  }

  async #wait(connection: OwnConnection, wake: () => void, rest: BackOff): Promise<void> {
    const pauses = new BackOff(PAUSE)
    let stood: string | undefined
    while (this.#wake === wake) {
      const position = this.#position()
      if (position !== stood) pauses.reset()
      stood = position
      const hasBeyond = await connection.hasBeyond(position)
      rest.reset()
      if (!hasBeyond) continue
      wake()
      await pause(pauses)
    }
  }
}

function pause(backOff: BackOff): Promise<void> {
  return new Promise((resolve) => {
    new Alarm(resolve).set(clock.now() + backOff.next())
  })
}
