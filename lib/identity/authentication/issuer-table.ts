import {
  type AnswerTable,
  type CachedAnswer,
  expireAnswer,
} from '../../platform/callbacks/answer-cache.ts'
import { RecentKeys } from '../../platform/callbacks/line.ts'
import { flatString } from '../../platform/runtime/flat-string.ts'

/**
 * Places beyond the bound for issuers that have proved no token yet, if those that have proved one
 * hold all others. A new customer needs a place for its first token. Whoever names one issuer again
 * and again causes one fetch of its keys, and not one for each token.
 */
const UNPROVED_PLACES = 64

interface Entry<T> {
  kept: CachedAnswer<T>
  /** It was used since the eviction last looked at it. */
  isUsed: boolean
}

type Entries<T> = Map<string, Entry<T>>

/**
 * The issuers that are held, by `iss`. Anybody can name one, so a place is worth something only
 * with a proved token: who has proved none gives way first, and displaces nobody who has. Of those
 * that have, the oldest goes that was not used since the eviction last looked at it. An issuer
 * stays as long as a request waits for its keys.
 */
export class IssuerTable<T> implements AnswerTable<T> {
  readonly #most: number
  readonly #displaced: (held: T, hadProved: boolean) => void
  readonly #proved: Entries<T> = new Map()
  readonly #unproved: Entries<T> = new Map()
  /** Issuers without a proof whose keys are waited for. */
  readonly #awaited: Entries<T> = new Map()
  /** The number of requests that wait for the keys of each. */
  readonly #waits = new Map<string, number>()
  /** Issuers that had proved a token and are held no more. */
  readonly #gone = new RecentKeys()

  /** @param displaced called with each that is displaced by another one */
  constructor(most: number, displaced: (held: T, hadProved: boolean) => void) {
    this.#most = most
    this.#displaced = displaced
  }

  get(iss: string): CachedAnswer<T> | undefined {
    return this.#find(iss)?.kept
  }

  /** A new answer keeps the place and the proofs of the one before. */
  set(iss: string, kept: CachedAnswer<T>): void {
    const before = this.#find(iss)
    if (before !== undefined) {
      before.kept = kept
      return
    }
    const home = this.#waits.has(iss) ? this.#awaited : this.#unproved
    home.set(flatString(iss), { kept, isUsed: false })
    this.#makeRoom(iss)
  }

  delete(iss: string): void {
    if (this.#proved.delete(iss)) this.#gone.note(iss)
    else if (!this.#unproved.delete(iss)) this.#awaited.delete(iss)
  }

  values(): T[] {
    return this.#all().map(([, { kept }]) => kept.answer)
  }

  expire(fits: (iss: string) => boolean): void {
    for (const [iss, { kept }] of this.#all()) if (fits(iss)) expireAnswer(kept)
  }

  /** True if it has proved a token, and has not been gone for more than an hour. */
  isKnown(iss: string): boolean {
    return this.#proved.has(iss) || this.#gone.has(iss)
  }

  noteProof(iss: string): void {
    const entry = this.#unproved.get(iss) ?? this.#awaited.get(iss)
    if (entry === undefined) return
    this.#unproved.delete(iss)
    this.#awaited.delete(iss)
    this.#gone.delete(iss)
    const own = flatString(iss)
    this.#proved.set(own, entry)
    while (this.#proved.size > this.#most && this.#displaceOther(own));
  }

  noteUse(iss: string): void {
    const entry = this.#proved.get(iss)
    if (entry !== undefined) entry.isUsed = true
  }

  beginWait(iss: string): void {
    this.#waits.set(iss, (this.#waits.get(iss) ?? 0) + 1)
    move(iss, this.#unproved, this.#awaited)
  }

  endWait(iss: string): void {
    const left = (this.#waits.get(iss) ?? 0) - 1
    if (left > 0) {
      this.#waits.set(iss, left)
      return
    }
    this.#waits.delete(iss)
    move(iss, this.#awaited, this.#unproved)
    this.#makeRoom(iss)
  }

  #find(iss: string): Entry<T> | undefined {
    return this.#proved.get(iss) ?? this.#unproved.get(iss) ?? this.#awaited.get(iss)
  }

  #all(): [string, Entry<T>][] {
    return [...this.#proved, ...this.#unproved, ...this.#awaited]
  }

  /** @param latest whose request is not over yet */
  #makeRoom(latest: string): void {
    const most = Math.max(this.#most, this.#proved.size + UNPROVED_PLACES)
    for (const [iss, { kept }] of this.#unproved) {
      if (this.#proved.size + this.#unproved.size + this.#awaited.size <= most) return
      if (iss === latest) return
      this.#unproved.delete(iss)
      this.#displaced(kept.answer, false)
    }
  }

  /** Issuers that stay move behind all others, and are looked at a second time. */
  #displaceOther(newcomer: string): boolean {
    let looks = 2 * this.#proved.size
    for (const [iss, entry] of this.#proved) {
      if (looks === 0) break
      looks -= 1
      this.#proved.delete(iss)
      if (iss !== newcomer && !entry.isUsed && !this.#waits.has(iss)) {
        this.#gone.note(iss)
        this.#displaced(entry.kept.answer, true)
        return true
      }
      entry.isUsed = false
      this.#proved.set(iss, entry)
    }
    return false
  }
}

function move<T>(iss: string, from: Entries<T>, to: Entries<T>): void {
  const entry = from.get(iss)
  if (entry === undefined) return
  from.delete(iss)
  to.set(iss, entry)
}
