// Outside: the number of questions that strangers cause. Their answers are kept in a bounded table.

import { ownText } from './own-text.ts'

/** An answer, and until when it holds, by `clock`. */
export interface Kept<T> {
  readonly answer: T
  /** From then on it is asked for anew in the background, while it still holds. */
  renewAt: number
  /** Until then the question is not asked again. */
  freshUntil: number
  /** Until then it serves where no newer one can be had. */
  goodUntil: number
}

interface Entry<T> {
  readonly kept: Kept<T>
  /** Since it was last passed over. */
  used: boolean
}

/** Answers by key. Where the table is full, the oldest goes of those that were not used since. */
export class KeptAnswers<T> {
  readonly #maxEntries: number
  readonly #drop: (answer: T) => void
  readonly #entries = new Map<string, Entry<T>>()

  /** @param drop is told each answer that has to go because the table is full */
  constructor(maxEntries: number, drop: (answer: T) => void = () => {}) {
    this.#maxEntries = maxEntries
    this.#drop = drop
  }

  get(key: string): Kept<T> | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.kept
  }

  set(key: string, kept: Kept<T>): void {
    const own = ownText(key)
    this.#entries.delete(own)
    if (this.#maxEntries === 0) return
    while (this.#entries.size >= this.#maxEntries) this.#evict()
    this.#entries.set(own, { kept, used: false })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  values(): T[] {
    return [...this.#entries.values()].map(({ kept }) => kept.answer)
  }

  /**
   * One answer, or each, has to be asked for anew. It stays what the new one takes the place of.
   */
  expire(key?: string): void {
    const entries = key === undefined ? this.#entries.values() : [this.#entries.get(key)]
    for (const entry of entries) {
      if (entry === undefined) continue
      entry.kept.freshUntil = Number.NEGATIVE_INFINITY
      entry.kept.goodUntil = Number.NEGATIVE_INFINITY
    }
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      this.#entries.delete(key)
      if (!entry.used) {
        this.#drop(entry.kept.answer)
        return
      }
      entry.used = false
      this.#entries.set(key, entry)
    }
  }
}
