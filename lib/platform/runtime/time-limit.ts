import { clock } from './clock.ts'

// Outside: servers that hang, and lines of fetches before other servers that hang.

/** Milliseconds. A timer that is set for longer fires at once. */
const LONGEST_WAIT = 2 ** 31 - 1

/** Milliseconds for the work itself, and for the waits before it, all together. */
interface Times {
  readonly work: number
  readonly wait: number
}

/**
 * The time of one load. It stands still while the load waits for a place, which has a time of its
 * own. Its timers do not keep the process alive.
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

  constructor(times: Times) {
    this.work = times.work
    this.#left = { ...times }
    this.#start()
  }

  /** Aborted when the time is over, or by `abort()`. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Whether the work, and not the wait for it, took too long. */
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

  /** Ends the load, whose end stops the timer. */
  abort(): void {
    this.#controller.abort()
  }

  /** The load is over. */
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
