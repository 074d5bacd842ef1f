import type { AuthError } from '../errors.ts'

/** How many guarded requests were admitted, and refused. */
export interface DecisionStats {
  readonly admitted: number
  /** By the code of the error, of those that occurred. */
  readonly refused: Readonly<Record<string, number>>
}

/** The decisions of one service, in all its applications. */
export class DecisionCounts {
  #admitted = 0
  readonly #refused = new Map<string, number>()

  /** @param error null: the request was admitted */
  count(error: AuthError | null): void {
    if (error === null) this.#admitted++
    else this.#refused.set(error.code, (this.#refused.get(error.code) ?? 0) + 1)
  }

  /** A copy. */
  get stats(): DecisionStats {
    return { admitted: this.#admitted, refused: Object.fromEntries(this.#refused) }
  }
}
