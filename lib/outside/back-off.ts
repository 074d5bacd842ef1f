// Outside: other servers that go away, and to which many processes come back at one moment.

/** How long to wait after failures. In seconds. */
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
