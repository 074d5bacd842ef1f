/** Longest token that is kept, in characters. */
const MAX_KEPT_LENGTH = 4096

/** Token text kept for each entry on average, in characters. */
const MEAN_LENGTH = 2048

interface Entry<T> {
  readonly token: string
  readonly value: T
  used: boolean
}

/**
 * What verified tokens stand for, by the whole token. Bounded in entries and in characters. When it is full, the
 * oldest entry that was not used since the last look goes (the SIEVE algorithm): a hit costs one write.
 */
export class TokenCache<T> {
  readonly #maxEntries: number
  readonly #maxLength: number
  #entries = new Map<string, Entry<T>>()
  #hand: Iterator<Entry<T>> = this.#entries.values()
  #length = 0

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
    this.#maxLength = maxEntries * MEAN_LENGTH
  }

  get(token: string): T | undefined {
    // An empty map would hash the token all the same.
    if (this.#entries.size === 0) return undefined
    const entry = this.#entries.get(token)
    if (entry === undefined) return undefined
    entry.used = true
    return entry.value
  }

  set(token: string, value: T): void {
    if (token.length > MAX_KEPT_LENGTH || token.length > this.#maxLength) return
    this.delete(token)
    while (
      this.#entries.size >= this.#maxEntries ||
      this.#length + token.length > this.#maxLength
    ) {
      this.#evict()
    }
    this.#entries.set(token, { token, value, used: false })
    this.#length += token.length
  }

  delete(token: string): void {
    if (this.#entries.delete(token)) this.#length -= token.length
  }

  clear(): void {
    this.#entries = new Map()
    this.#hand = this.#entries.values()
    this.#length = 0
  }

  get size(): number {
    return this.#entries.size
  }

  #evict(): void {
    for (;;) {
      const { done, value: entry } = this.#hand.next()
      if (done) {
        this.#hand = this.#entries.values()
      } else if (entry.used) {
        entry.used = false
      } else {
        this.delete(entry.token)
        return
      }
    }
  }
}
