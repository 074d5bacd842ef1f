// Outside: servers that hang, of which a few must not hold up all others.

import { Unusable } from './unusable.ts'

/** Places for so many pieces of work at once. The others wait in their order. */
export class Slots {
  readonly #parent: Slots | undefined
  readonly #waiting = new Set<() => void>()
  #free: number

  /** @param parent places of which these are a part: work here takes one there too */
  constructor(count: number, parent?: Slots) {
    this.#free = count
    this.#parent = parent
  }

  /**
   * Runs `work` once there is a place. Whoever waits gives up when the signal is aborted, and its
   * work never begins.
   *
   * @throws Unusable when it has given up, and what `work` throws
   */
  async run<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#enter(signal)
    try {
      if (signal.aborted) throw noPlace()
      return await (this.#parent === undefined ? work() : this.#parent.run(work, signal))
    } finally {
      this.#leave()
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    if (this.#free === 0) return this.#turn(signal)
    this.#free -= 1
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw noPlace()
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#waiting.delete(enter)
        reject(noPlace())
      }
      this.#waiting.add(enter)
      signal.addEventListener('abort', giveUp, { once: true })
    })
  }

  /** The place goes to the next who waits, without being free in between. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free += 1
    } else {
      this.#waiting.delete(next)
      next()
    }
  }
}

function noPlace(): Unusable {
  return new Unusable('too many other fetches were under way')
}
