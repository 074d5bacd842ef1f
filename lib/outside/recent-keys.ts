// Outside: strangers who make up keys, beside those who have proved theirs.

import { clock } from './clock.ts'

const HOUR = 3_600_000

const MOST = 10_000

/** Keys that were good within the last hour; of too many, the latest. */
export class RecentKeys {
  /** Until when each was good, by `clock`; the first that were noted come first. */
  readonly #times = new Map<string, number>()
  readonly #most: number

  constructor(most = MOST) {
    this.#most = most
  }

  has(key: string): boolean {
    const time = this.#times.get(key)
    return time !== undefined && clock.now() - time < HOUR
  }

  /** @param until when it is good, by `clock` */
  note(key: string, until = clock.now()): void {
    this.#times.delete(key)
    this.#times.set(key, until)
    if (this.#times.size <= this.#most) return
    const [oldest] = this.#times.keys()
    if (oldest !== undefined) this.#times.delete(oldest)
  }

  /** It is good no more. */
  delete(key: string): void {
    this.#times.delete(key)
  }
}
