import { HashIndex, type Indexed } from '../outside/hash-index.ts'
import { ownText } from '../outside/own-text.ts'
import { Queue, type Queued } from '../outside/queue.ts'
import { textHash } from '../outside/text-hash.ts'

/** Token text kept for each entry on average, in characters. */
const MEAN_LENGTH = 2048

/** Bytes of memory that a character of this bound stands for. */
const BYTES_PER_CHARACTER = 4

/** Bytes of an entry without its token's text and without what it stands for. */
const ENTRY = 512

interface Entry<T> extends Queued<Entry<T>>, Indexed<Entry<T>> {
  readonly token: string
  readonly value: T
  readonly weight: number
  used: boolean
}

/**
 * What verified tokens stand for, by the whole token. Bounded in entries, and in all that they keep
 * alive: 2 KiB of text and 8 KiB of memory for each on average. A token above the whole bound is
 * kept alone. When the cache is full, the oldest entry that was not used since the last look goes
 * (the SIEVE algorithm): a hit costs one write.
 *
 * A token is found by the hash of its end, which is of its signature, and then compared as a whole.
 * Tokens that are no JWTs may have one ending, so that the ones that come later with a hash that is
 * taken are kept by their whole text.
 */
export class TokenCache<T> {
  readonly #maxEntries: number
  readonly #maxWeight: number
  readonly #sizeOf: (value: T) => number
  readonly #entries = new HashIndex<Entry<T>>()
  /** Entries whose hash another one had when they came, by their tokens. */
  readonly #twins = new Map<string, Entry<T>>()
  readonly #queue = new Queue<Entry<T>>()
  /** The entry that is looked at next; undefined: the oldest. */
  #hand: Entry<T> | undefined
  #weight = 0
  #evictions = 0

  /** @param sizeOf bytes that a value keeps alive */
  constructor(maxEntries: number, sizeOf: (value: T) => number = () => 0) {
    this.#maxEntries = maxEntries
    this.#sizeOf = sizeOf
    this.#maxWeight = maxEntries * MEAN_LENGTH
  }

  get(token: string): T | undefined {
    const entry = this.#find(token, hashOf(token))
    if (entry === undefined) return undefined
    entry.used = true
    return entry.value
  }

  set(token: string, value: T): void {
    if (this.#maxEntries === 0) return
    const own = ownText(token)
    const hash = hashOf(own)
    const bytes = ENTRY + own.length + this.#sizeOf(value)
    const weight = Math.max(own.length, bytes / BYTES_PER_CHARACTER)
    const before = this.#find(own, hash)
    if (before !== undefined) this.#delete(before)
    while (this.size > 0 && !this.#hasRoomFor(weight)) this.#evict()
    const links = { older: undefined, newer: undefined, next: undefined }
    const entry = { token: own, hash, value, weight, used: false, ...links }
    if (this.#entries.find(hash) === undefined) this.#entries.add(entry)
    else this.#twins.set(own, entry)
    this.#queue.add(entry)
    this.#weight += weight
  }

  #find(token: string, hash: number): Entry<T> | undefined {
    const entry = this.#entries.find(hash)
    if (entry?.token === token) return entry
    return this.#twins.size > 0 ? this.#twins.get(token) : undefined
  }

  /** The entries whose values fit go. */
  forget(fits: (value: T) => boolean): void {
    let entry = this.#queue.oldest
    while (entry !== undefined) {
      const { newer } = entry
      if (fits(entry.value)) this.#delete(entry)
      entry = newer
    }
  }

  #delete(entry: Entry<T>): void {
    if (this.#hand === entry) this.#hand = entry.newer
    if (this.#twins.get(entry.token) === entry) this.#twins.delete(entry.token)
    else this.#entries.delete(entry)
    this.#queue.delete(entry)
    this.#weight -= entry.weight
  }

  get size(): number {
    return this.#entries.size + this.#twins.size
  }

  /** How many entries had to go because there was no room. */
  get evictions(): number {
    return this.#evictions
  }

  #hasRoomFor(weight: number): boolean {
    return this.size < this.#maxEntries && this.#weight + weight <= this.#maxWeight
  }

  #evict(): void {
    let entry = this.#next
    while (entry?.used) {
      entry.used = false
      this.#hand = entry.newer
      entry = this.#next
    }
    if (entry !== undefined) {
      this.#delete(entry)
      this.#evictions++
    }
  }

  get #next(): Entry<T> | undefined {
    return this.#hand ?? this.#queue.oldest
  }
}

/**
 * Random letters: where an ML-DSA signature ends in up to 84 bytes of hints, 96 bytes reach beyond
 * these. All of 16 KiB would cost as much as to verify them.
 */
const HASHED = 128

function hashOf(token: string): number {
  return textHash(token, token.length - HASHED)
}
