import { hash, randomFillSync } from 'node:crypto'
import { types } from 'node:util'
import { Unusable } from '../../platform/http/failure.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { flatString } from '../../platform/runtime/flat-string.ts'

/**
 * Notes a proof, and returns whether it is the first time.
 *
 * @param key made of the thumbprint of a key, 43 characters, and of the proof's own name
 * @param until when the proof is over
 * @throws if the table is full
 */
export type ProofTable = ((key: string, until: Date) => boolean) & {
  /** The number of held proofs. */
  readonly size: number
}

const MINUTE = 60_000

/** Milliseconds between two looks for buckets that are over. */
const LOOK_EVERY = 1000

/** Most buckets. An `until` far ahead would else make one for each minute. */
const MOST_BUCKETS = 64

/** Most ends of dropped buckets: those of a day. */
const MOST_DROPPED = 1440

/** Letters of a thumbprint (RFC 7638, SHA-256). */
const THUMBPRINT = 43

/** Counters of proofs by thumbprint. A power of two. */
const COUNTERS = 4096

/** Proofs that end within the same minute, and leave memory together. */
interface Bucket {
  /** In milliseconds since the epoch, on a whole minute. */
  end: number
  /** The end, reckoned at each insertion as a reading of `clock`. */
  endsAt: number
  /** True: it has proofs of other minutes, too. */
  isMixed: boolean
  readonly digests: Set<string>
  readonly counts: Uint32Array
}

/**
 * The proofs that were seen by this process: about 75 bytes each, in buckets that are dropped
 * whole. There is no timer: a call drops what is over.
 *
 * Setting the wall clock never makes a used proof valid again. A bucket is dropped when its end has
 * come on the monotonic clock and on the wall clock as well. After that, whatever ends in its minute
 * counts as seen: the wall clock may be set back.
 */
class Proofs {
  readonly #max: number
  readonly #quarter: number
  #buckets: Bucket[] = []
  /** The ends of the buckets that were dropped. */
  readonly #droppedEnds = new Set<number>()
  /** Whatever ends no later counts as seen: the latest end that is in that set no more. */
  #seenUntil = Number.NEGATIVE_INFINITY
  #size = 0
  /** The number of proofs beyond a quarter, over all thumbprints. */
  #excess = 0
  readonly #counts = new Uint32Array(COUNTERS)
  /** A secret number for each letter, so that nobody can choose keys of one counter. */
  readonly #secrets = randomFillSync(new Int32Array(128))
  /** A reading of `clock` before which no bucket is over. */
  #looksAt = Number.NEGATIVE_INFINITY

  constructor(max: number) {
    this.#max = max
    this.#quarter = Math.floor(max / 4)
  }

  get size(): number {
    this.#drop()
    return this.#size
  }

  note(key: string, until: number): boolean {
    this.#drop()
    if (until <= this.#seenUntil || this.#droppedEnds.has(minuteOf(until))) return false
    const digest = flatString(hash('sha256', key, 'binary').slice(0, 16))
    if (this.#buckets.some(({ digests }) => digests.has(digest))) return false
    const counter = this.#counterOf(key)
    if (!this.#hasRoomFor(counter)) throw new Unusable('the table of proofs is full')
    const bucket = this.#bucketFor(until)
    bucket.endsAt = Math.max(bucket.endsAt, clock.now() + bucket.end - Date.now())
    bucket.digests.add(digest)
    bucket.counts[counter] = (bucket.counts[counter] ?? 0) + 1
    this.#size += 1
    this.#count(counter, 1)
    return true
  }

  #drop(): void {
    const now = clock.now()
    if (now < this.#looksAt) return
    const date = Date.now()
    const isOver = ({ end, endsAt }: Bucket) => now >= endsAt && date >= end
    for (const bucket of this.#buckets.filter(isOver)) {
      const { digests, counts } = bucket
      this.#noteDropped(bucket)
      this.#size -= digests.size
      for (const [counter, count] of counts.entries()) this.#count(counter, -count)
    }
    this.#buckets = this.#buckets.filter((bucket) => !isOver(bucket))
    this.#looksAt = now + LOOK_EVERY
  }

  #noteDropped({ end, isMixed }: Bucket): void {
    this.#droppedEnds.add(end)
    const [oldest = end] = this.#droppedEnds
    const isFull = this.#droppedEnds.size > MOST_DROPPED
    if (isFull) this.#droppedEnds.delete(oldest)
    if (isFull || isMixed) this.#seenUntil = Math.max(this.#seenUntil, isMixed ? end : oldest)
  }

  /**
   * Two thumbprints may share a counter. Then one of them is refused with the other in a full
   * table, which costs its user a 503, and never lets a proof in twice.
   */
  #counterOf(key: string): number {
    let sum = 0
    for (let at = 0; at < THUMBPRINT; at++) {
      sum = Math.imul(sum ^ (this.#secrets[key.charCodeAt(at) & 0x7f] ?? 0), 0x01000193)
    }
    return (sum ^ (sum >>> 16)) & (COUNTERS - 1)
  }

  /**
   * In a full table, a thumbprint beyond a quarter is refused. As long as there is one, the others
   * have the room that it should not have, at most a quarter more.
   */
  #hasRoomFor(counter: number): boolean {
    if (this.#size < this.#max) return true
    const isBeyond = (this.#counts[counter] ?? 0) >= this.#quarter
    return !isBeyond && this.#size < this.#max + Math.min(this.#excess, this.#quarter)
  }

  #count(counter: number, change: number): void {
    const before = this.#counts[counter] ?? 0
    this.#counts[counter] = before + change
    const beyond = (count: number) => Math.max(0, count - this.#quarter)
    this.#excess += beyond(before + change) - beyond(before)
  }

  /** The bucket of its minute. Without room for one more, a proof may be held for longer. */
  #bucketFor(until: number): Bucket {
    const end = minuteOf(until)
    const later = this.#buckets.find((bucket) => bucket.end >= end)
    if (later?.end === end) return later
    const other = later ?? this.#buckets.at(-1)
    if (other !== undefined && this.#buckets.length >= MOST_BUCKETS) {
      other.end = Math.max(other.end, end)
      other.isMixed = true
      return other
    }
    const bucket = {
      end,
      endsAt: Number.NEGATIVE_INFINITY,
      isMixed: false,
      digests: new Set<string>(),
      counts: new Uint32Array(COUNTERS),
    }
    this.#buckets = [...this.#buckets, bucket].sort((a, b) => a.end - b.end)
    return bucket
  }
}

function minuteOf(until: number): number {
  return Math.ceil(until / MINUTE) * MINUTE
}

/** Most proofs that a table holds if nobody says how many. */
export const MOST_PROOFS = 500_000

/** A table of seen proofs. It is empty at first, and belongs to this process. */
export function localProofTable({ max = MOST_PROOFS }: { readonly max?: number } = {}): ProofTable {
  const proofs = new Proofs(max)
  const note = (key: string, until: Date): boolean => {
    if (typeof key !== 'string') throw new TypeError('the key of a proof is no string')
    const end = types.isDate(until) ? until.getTime() : Number.NaN
    if (Number.isNaN(end)) throw new TypeError('the end of a proof is no date')
    return proofs.note(key, end)
  }
  return Object.defineProperty(Object.assign(note, { size: 0 }), 'size', { get: () => proofs.size })
}
