// Outside: Node's timers. They fire at once if they are set too far ahead, and late if the machine
// slept. They run in the async context of the code that set them.

import { AsyncResource } from 'node:async_hooks'
import { LEAST_WAIT } from './back-off.ts'
import { clock } from './clock.ts'

/** Milliseconds. A timer that is set for longer fires at once. */
const LONGEST_WAIT = 2 ** 31 - 1

/**
 * That of the boot. A request may set an alarm, and an alarm sets the next one: they would run in
 * the context of that request for good.
 */
const context = new AsyncResource('fastify-tenant-auth')

/** Calls a function at a time of `clock`. It does not keep the process alive. */
export class Alarm {
  readonly #ring: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(ring: () => void) {
    this.#ring = () => context.runInAsyncScope(ring)
  }

  /**
   * Sets it anew. Returns the time it is set for: never at once, and never beyond what a timer can
   * reach.
   */
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
