import { flatString } from '../runtime/flat-string.ts'

// Outside: the number of questions that strangers cause. Their answers are in a bounded table.

/** An answer, with readings of `clock`. */
export interface CachedAnswer<T> {
  readonly answer: T
  /** From then on it is asked for anew in the background, while it still holds. */
  renewAt: number
  /** Until then the question is not asked again. */
  freshUntil: number
  /** Until then it serves if no newer one can be had. */
  goodUntil: number
}

/** Whoever wants it asks anew, and it serves no more if that fails. */
export function expireAnswer(cached: CachedAnswer<unknown>): void {
  cached.freshUntil = Number.NEGATIVE_INFINITY
  cached.goodUntil = Number.NEGATIVE_INFINITY
}

/** The bound of one table's memory. */
export interface WeightRules<T> {
  /** Bytes. A larger answer is the only one in the table. */
  readonly most: number
  /** Bytes of an answer; an estimate. */
  of(answer: T, key: string): number
}

interface Entry<T> {
  readonly cached: CachedAnswer<T>
  readonly weight: number
  /** Since it was last passed over. */
  isUsed: boolean
}

export interface AnswerTable<T> {
  get(key: string): CachedAnswer<T> | undefined
  set(key: string, cached: CachedAnswer<T>): void
  delete(key: string): void
  values(): T[]
  /**
   * Answers whose keys fit are asked for anew. Each stays in the table until a new one takes its
   * place.
   */
  expire(fits: (key: string) => boolean): void
}

/** A full table drops the oldest of the answers that were not used since. */
export class AnswerCache<T> implements AnswerTable<T> {
  readonly #maxEntries: number
  readonly #drop: (answer: T) => void
  readonly #weightRules: WeightRules<T> | undefined
  /** The oldest first. */
  readonly #entries = new Map<string, Entry<T>>()
  #weight = 0

  /** @param drop takes each answer that has to go because the table is full */
  constructor(
    maxEntries: number,
    drop: (answer: T) => void = () => {},
    weightRules?: WeightRules<T>,
  ) {
    this.#maxEntries = maxEntries
    this.#drop = drop
    this.#weightRules = weightRules
  }

  get(key: string): CachedAnswer<T> | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    entry.isUsed = true
    return entry.cached
  }

  set(key: string, cached: CachedAnswer<T>): void {
    if (this.#maxEntries === 0) return
    const own = flatString(key)
    this.delete(own)
    const weight = this.#weightRules?.of(cached.answer, own) ?? 0
    while (this.#entries.size > 0 && !this.#hasRoomFor(weight)) this.#evict()
    this.#entries.set(own, { cached, weight, isUsed: false })
    this.#weight += weight
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }

  values(): T[] {
    return [...this.#entries.values()].map(({ cached }) => cached.answer)
  }

  expire(fits: (key: string) => boolean): void {
    for (const [key, { cached }] of this.#entries) {
      if (fits(key)) expireAnswer(cached)
    }
  }

  #hasRoomFor(weight: number): boolean {
    if (this.#entries.size >= this.#maxEntries) return false
    return this.#weightRules === undefined || this.#weight + weight <= this.#weightRules.most
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (!entry.isUsed) {
        this.delete(key)
        this.#drop(entry.cached.answer)
        return
      }
      // The entry becomes the newest, so that the loop comes to it again if all were used.
      entry.isUsed = false
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
  }
}
