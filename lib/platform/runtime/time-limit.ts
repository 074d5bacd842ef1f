import { clock } from './clock.ts'
import { LONGEST_WAIT } from './timer.ts'

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
