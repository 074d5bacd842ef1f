import { randomFillSync } from 'node:crypto'
import { flatString } from '../../platform/runtime/flat-string.ts'

/** Token text kept for each entry on average, in characters. */
const MEAN_LENGTH = 2048

/** Bytes of memory that a character of this bound stands for. */
const BYTES_PER_CHARACTER = 4

/** Bytes of an entry without its token's text and without what it stands for. */
const ENTRY = 512

/** Places of an empty table: a power of two. */
const LEAST_PLACES = 64

interface Entry<T> {
  readonly token: string
  /** A whole number of 32 bits. */
  readonly hash: number
  readonly value: T
  readonly weight: number
  readonly isTwin: boolean
  /** Since it was last passed over. */
  isUsed: boolean
  /** The next one at the same place. */
  next: Entry<T> | undefined
  older: Entry<T> | undefined
  newer: Entry<T> | undefined
}

/**
 * Verified tokens by their whole text. Bounded in entries, and in all that they keep
 * alive: 2 KiB of text and 8 KiB of memory for each on average. A token above the whole bound is
 * kept alone. When the cache is full, the oldest entry that was not used since the last look goes
 * (the SIEVE algorithm): a hit costs one write.
 *
 * A token is found by the hash of its end, which is of its signature, and then compared as a whole.
 * Tokens that are no JWTs may have one ending: a twin, which comes when its hash is taken, is kept
 * by its whole text.
 *
 * The table is its own, since a Map of V8 makes one table after another where things come and go.
 * Each keeps the next one alive, and collecting them costs more than all look-ups.
 */
export class TokenCache<T> {
  readonly #maxEntries: number
  readonly #maxWeight: number
  readonly #sizeOf: (value: T) => number
  #places = placesFor<T>(LEAST_PLACES)
  readonly #twins = new Map<string, Entry<T>>()
  #oldest: Entry<T> | undefined
  #newest: Entry<T> | undefined
  /** The entry that is looked at next; undefined: the oldest. */
  #hand: Entry<T> | undefined
  #size = 0
  #weight = 0
  #evictions = 0

  /** @param sizeOf bytes that a value keeps alive */
  constructor(maxEntries: number, sizeOf: (value: T) => number = () => 0) {
    this.#maxEntries = maxEntries
    this.#sizeOf = sizeOf
    this.#maxWeight = maxEntries * MEAN_LENGTH
  }

  get size(): number {
    return this.#size
  }

  /** The number of entries that were dropped for lack of room. */
  get evictions(): number {
    return this.#evictions
  }

  get(token: string): T | undefined {
    const entry = this.#find(token, hashOf(token))
    if (entry === undefined) return undefined
    entry.isUsed = true
    return entry.value
  }

  set(token: string, value: T): void {
    if (this.#maxEntries === 0) return
    const own = flatString(token)
    const hash = hashOf(own)
    const bytes = ENTRY + own.length + this.#sizeOf(value)
    const weight = Math.max(own.length, bytes / BYTES_PER_CHARACTER)
    const before = this.#find(own, hash)
    if (before !== undefined) this.#delete(before)
    while (this.#size > 0 && !this.#hasRoomFor(weight)) this.#evict()
    const isTwin = this.#withHash(hash) !== undefined
    const links = { next: undefined, older: this.#newest, newer: undefined }
    this.#add({ token: own, hash, value, weight, isTwin, isUsed: false, ...links })
  }

  forget(fits: (value: T) => boolean): void {
    let entry = this.#oldest
    while (entry !== undefined) {
      const { newer } = entry
      if (fits(entry.value)) this.#delete(entry)
      entry = newer
    }
  }

  #find(token: string, hash: number): Entry<T> | undefined {
    const entry = this.#withHash(hash)
    if (entry?.token === token) return entry
    return this.#twins.size > 0 ? this.#twins.get(token) : undefined
  }

  #withHash(hash: number): Entry<T> | undefined {
    let entry = this.#places[hash & (this.#places.length - 1)]
    while (entry !== undefined && entry.hash !== hash) entry = entry.next
    return entry
  }

  #add(entry: Entry<T>): void {
    if (entry.older === undefined) this.#oldest = entry
    else entry.older.newer = entry
    this.#newest = entry
    this.#size += 1
    this.#weight += entry.weight
    if (this.#size > this.#places.length) this.#grow()
    else this.#put(entry)
  }

  #put(entry: Entry<T>): void {
    if (entry.isTwin) {
      this.#twins.set(entry.token, entry)
      return
    }
    const place = entry.hash & (this.#places.length - 1)
    entry.next = this.#places[place]
    this.#places[place] = entry
  }

  #grow(): void {
    this.#places = placesFor(this.#places.length * 2)
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) this.#put(entry)
  }

  /** The entry leads to no other one afterwards: a dropped entry must not keep later ones alive. */
  #delete(entry: Entry<T>): void {
    const { older, newer } = entry
    if (this.#hand === entry) this.#hand = newer
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    this.#size -= 1
    this.#weight -= entry.weight
    if (entry.isTwin) this.#twins.delete(entry.token)
    else this.#leavePlace(entry)
    entry.next = undefined
    entry.older = undefined
    entry.newer = undefined
  }

  #leavePlace(entry: Entry<T>): void {
    const place = entry.hash & (this.#places.length - 1)
    let before = this.#places[place]
    if (before === entry) this.#places[place] = entry.next
    while (before !== undefined && before.next !== entry) before = before.next
    if (before !== undefined) before.next = entry.next
  }

  #hasRoomFor(weight: number): boolean {
    return this.#size < this.#maxEntries && this.#weight + weight <= this.#maxWeight
  }

  #evict(): void {
    let entry = this.#hand ?? this.#oldest
    while (entry?.isUsed) {
      entry.isUsed = false
      entry = entry.newer ?? this.#oldest
    }
    if (entry === undefined) return
    this.#hand = entry
    this.#delete(entry)
    this.#evictions++
  }
}

function placesFor<T>(count: number): (Entry<T> | undefined)[] {
  return new Array<Entry<T> | undefined>(count).fill(undefined)
}

/**
 * A secret number of this process for each letter of Latin-1, so that nobody can prepare tokens of
 * one place. A secret seed is too little: two texts can be prepared that have one hash with every
 * eighth seed, where letters count by their own numbers.
 */
const SECRETS = randomFillSync(new Int32Array(256))

/**
 * Random letters: where an ML-DSA signature ends in up to 84 bytes of hints, 96 bytes reach beyond
 * these. All of 16 KiB would cost as much as to verify them.
 */
const HASHED = 128

/**
 * FNV-1a, and then folded, since its low bits know nothing of the high bits of a letter's number.
 */
function hashOf(token: string): number {
  let hash = 0
  for (let at = Math.max(0, token.length - HASHED); at < token.length; at++) {
    hash = Math.imul(hash ^ (SECRETS[token.charCodeAt(at) & 0xff] ?? 0), 0x01000193)
  }
  return hash ^ (hash >>> 16)
}

/** Figures of a cache of verified tokens. */
export interface TokenCacheStats {
  /** Tokens that are kept. */
  readonly size: number
  /** Requests whose token was known. */
  readonly hits: number
  /** Requests whose token had to be verified, or was refused without being known. */
  readonly misses: number
  /** Tokens that had to go because there was no room. */
  readonly evictions: number
}
