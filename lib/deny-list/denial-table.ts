import type { HeldDenial } from './held-denial.ts'
import { Sieve } from './sieve.ts'

/** Entries of the same names. The latest `issuedBefore` is first, and ends first. */
export type Stairs = readonly HeldDenial[]

/** Entries by a text of their names. Most tokens that no entry names do not get beyond a sieve. */
export class DenialTable {
  readonly #stairs = new Map<string, Stairs>()
  readonly #sieve = new Sieve()

  get size(): number {
    return this.#stairs.size
  }

  get(key: string): Stairs | undefined {
    return this.#sieve.passes(key) ? this.#stairs.get(key) : undefined
  }

  /** @param stairs empty: there are no entries of these names */
  set(key: string, stairs: Stairs): void {
    if (stairs.length === 0) return void this.#stairs.delete(key)
    if (!this.#stairs.has(key)) this.#addToSieve(key)
    this.#stairs.set(key, stairs)
  }

  /** What was deleted stays in the sieve until that is full. */
  #addToSieve(key: string): void {
    if (this.#sieve.isFull) this.#sieve.refill(this.#stairs.keys(), this.#stairs.size)
    this.#sieve.add(key)
  }
}
