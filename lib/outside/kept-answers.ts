// Outside: the number of questions that strangers cause. Their answers are kept in a bounded table.

import { ownText } from './own-text.ts'

/** An answer, and until when it holds, by `clock`. */
export interface Kept<T> {
  readonly answer: T
  /** Until then the question is not asked again. */
  freshUntil: number
  /** Until then it serves where no newer one can be had. */
  readonly goodUntil: number
  /** Whether the last attempt to have a newer one failed. */
  isFailing: boolean
}

/** Answers by key. Where the table is full, the oldest answer goes. */
export class KeptAnswers<T> {
  readonly #maxEntries: number
  readonly #entries = new Map<string, Kept<T>>()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get(key: string): Kept<T> | undefined {
    return this.#entries.get(key)
  }

  set(key: string, kept: Kept<T>): void {
    this.#entries.delete(key)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#maxEntries) break
      this.#entries.delete(oldest)
    }
    this.#entries.set(ownText(key), kept)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
