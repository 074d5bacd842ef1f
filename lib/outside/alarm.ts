// Outside: Node's timers, which fire at once where they are set too far, and late where the machine
// slept.

import { LEAST_WAIT } from './back-off.ts'
import { clock } from './clock.ts'

/** Milliseconds; a timer that is set for longer fires at once. */
const LONGEST_WAIT = 2 ** 31 - 1

/** Calls a function at a time of `clock`. Holds no process up. */
export class Alarm {
  readonly #ring: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(ring: () => void) {
    this.#ring = ring
  }

  /** Sets it anew. Returns for when it is set: not at once, and not beyond what a timer can. */
  set(at: number): number {
    this.stop()
    const now = clock.now()
    const wait = Math.min(Math.max(LEAST_WAIT, at - now), LONGEST_WAIT)
    this.#timer = setTimeout(this.#ring, wait)
    this.#timer.unref()
    return now + wait
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
