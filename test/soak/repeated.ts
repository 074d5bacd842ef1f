import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { Random } from './random.ts'

/** What happens again and again, each by a sequence of its own, until all is ended. */
export class Repeated {
  /** How often each thing has happened. */
  readonly counts = new Map<string, number>()
  readonly #seed: number
  readonly #pace: number
  readonly #end = new AbortController()
  readonly #running: Promise<void>[] = []

  /** @param pace 1: as in the long run; less: as much in a shorter time */
  constructor(seed: number, pace: number) {
    this.#seed = seed
    this.#pace = pace
    // All that waits is ended by one signal.
    setMaxListeners(100, this.#end.signal)
  }

  get isOver(): boolean {
    return this.#end.signal.aborted
  }

  /** After so many seconds each time. */
  begin(
    name: string,
    [least, most]: readonly [number, number],
    act: (random: Random) => Promise<unknown>,
  ): void {
    const random = Random.of(this.#seed, name)
    const run = async () => {
      for (;;) {
        await this.rest(random.between(least, most))
        if (this.isOver) return
        await act(random)
        this.count(name)
      }
    }
    this.#running.push(run())
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** Waits so many seconds, or until the end. */
  async rest(seconds: number): Promise<void> {
    await wait(seconds * 1000 * this.#pace, undefined, this.#end).catch(() => {})
  }

  /** Resolves when all that had begun is over. */
  async end(): Promise<void> {
    this.#end.abort()
    await Promise.all(this.#running)
  }
}
