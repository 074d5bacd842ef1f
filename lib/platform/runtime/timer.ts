import { AsyncResource } from 'node:async_hooks'
import { clock } from './clock.ts'

// Outside: Node's timers. They fire at once if they are set too far ahead, and late if the machine
// slept. They run in the async context of the code that set them.

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

/** The waits after failures, in seconds. */
export interface BackOffRules {
  /** Wait after a first failure; it doubles with each further one. */
  readonly retry: number
  /** Longest wait between two attempts. */
  readonly retryMax: number
}

/** Milliseconds. With this, a zero in the configuration does not become a busy loop. */
export const LEAST_WAIT = 20

/** A larger exponent would give an infinite number. The longest wait is reached long before. */
const MOST_DOUBLINGS = 40

/** The waits after failures in a row. */
export class BackOff {
  readonly #rules: BackOffRules
  #failures = 0

  constructor(rules: BackOffRules) {
    this.#rules = rules
  }

  /**
   * Milliseconds to wait after one more failure: `retry` after the first, then doubling up to
   * `retryMax`. Jitter only shortens a doubled wait.
   */
  next(): number {
    const { retry, retryMax } = this.#rules
    const doublings = Math.min(this.#failures, MOST_DOUBLINGS)
    const doubled = Math.min(retry * 2 ** doublings, Math.max(retry, retryMax))
    this.#failures += 1
    const least = Math.max(retry, doubled / 2)
    return Math.max(LEAST_WAIT, (least + (doubled - least) * Math.random()) * 1000)
  }

  /** After a success. */
  reset(): void {
    this.#failures = 0
  }
}

// Outside: servers that hang, and lines of fetches before other servers that hang.

/** Milliseconds. */
interface Times {
  readonly work: number
  /** For all waits before the work together. */
  readonly wait: number
}

/**
 * The time of one exchange with another server. It stands still while the exchange waits for a
 * place, which has a time of its own. Its timers do not keep the process alive.
 */
export class TimeLimit {
  readonly #controller = new AbortController()
  /** Milliseconds for the work. */
  readonly work: number
  readonly #left: { work: number; wait: number }
  #spends: keyof Times = 'work'
  #since = 0
  #timer: NodeJS.Timeout | undefined
  #isLate = false

  constructor({ work, wait = 0 }: Pick<Times, 'work'> & Partial<Times>) {
    this.work = work
    this.#left = { work, wait }
    this.#start()
  }

  /** Aborted when the time is over, or by `abort()`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The work, and not the wait for it, took too long. */
  get isLate(): boolean {
    return this.#isLate
  }

  /** From now on this time is spent, and not the other one. */
  spend(what: keyof Times): void {
    clearTimeout(this.#timer)
    this.#left[this.#spends] -= clock.now() - this.#since
    this.#spends = what
    this.#start()
  }

  /** Ends the exchange, whose end stops the timer. */
  abort(): void {
    this.#controller.abort()
  }

  /** The exchange is over. */
  end(): void {
    clearTimeout(this.#timer)
  }

  #start(): void {
    if (this.signal.aborted) return
    this.#since = clock.now()
    this.#timer = setTimeout(
      () => {
        this.#isLate = this.#spends === 'work'
        this.#controller.abort()
      },
      Math.min(this.#left[this.#spends], LONGEST_WAIT),
    )
    this.#timer.unref()
  }
}
