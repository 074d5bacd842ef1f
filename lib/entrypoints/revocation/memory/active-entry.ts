import { clock } from '../../../platform/runtime/clock.ts'
import type { Names } from '../entry.ts'

/** Least seconds that an entry without an end lasts beyond `maxLifetime`, since clocks differ. */
const SLACK = 300

export interface Ending {
  readonly end: number
  /** True: the end was named, rather than reckoned from when the entry was stored. */
  readonly isNamed: boolean
}

export class ActiveEntry implements Ending {
  /** The names that are set: 1 for the first, 2, 4 and 8. */
  readonly nameMask: number
  readonly key: string
  /** Its user, of one issuer or of any; null: it names none. */
  readonly user: string | null
  readonly issuer: string | null
  readonly issuedBefore: number
  readonly end: number
  readonly isNamed: boolean
  /** The last answer that had it; less than all of them: none. */
  lastAnswer: number
  /** The number of copies in `lastAnswer`, so far. */
  copies = 1
  /** The number of copies in the answer before; infinity: there is none to compare with. */
  #copiesBefore = Number.POSITIVE_INFINITY
  /** A reading of `clock`. */
  readonly #endsAt: number

  constructor(names: Names, issuedBefore: number, { end, isNamed }: Ending, lastAnswer = -2) {
    this.nameMask = maskOf(names)
    this.key = keyOf(names, this.nameMask) ?? ''
    const user = userOf(names)
    // Both are one text in memory.
    this.user = user === this.key ? this.key : user
    this.issuer = names[3]
    this.issuedBefore = issuedBefore
    this.end = end
    this.isNamed = isNamed
    this.lastAnswer = lastAnswer
    this.#endsAt = clock.now() + end - Date.now()
  }

  /**
   * An entry ends on both clocks: the wall clock may be set, and no token comes back to life for
   * that.
   *
   * @param tolerance seconds beyond their end for which tokens are accepted
   */
  hasEnded(tolerance: number): boolean {
    const { wall, steady } = this.endsBy(tolerance)
    return Date.now() >= wall && clock.now() >= steady
  }

  /** Its end by the wall clock, and the reading of `clock`. */
  endsBy(tolerance: number): { readonly wall: number; readonly steady: number } {
    const slack = this.#slack(tolerance)
    return { wall: this.end + slack, steady: this.#endsAt + slack }
  }

  /** Milliseconds. A token may be issued by a clock that is ahead, and is used beyond its end. */
  #slack(tolerance: number): number {
    return 1000 * (this.isNamed ? tolerance : Math.max(SLACK, 2 * tolerance))
  }

  /** Notes that an answer has it again. True: not more often than the answer before had it. */
  isRepeatedIn(answer: number): boolean {
    if (answer !== this.lastAnswer) {
      this.#copiesBefore = this.copies
      this.copies = 0
      this.lastAnswer = answer
    }
    this.copies += 1
    return this.copies <= this.#copiesBefore
  }

  /** True: it revokes all tokens that another entry of the same names does. */
  covers(other: ActiveEntry): boolean {
    const lasts = this.end >= other.end && (!this.isNamed || other.isNamed)
    // Both clocks are read one after the other.
    return lasts && this.#endsAt > other.#endsAt - 1000 && this.issuedBefore >= other.issuedBefore
  }

  /** @param issuedAt milliseconds since the epoch; undefined: not known */
  fits(issuedAt: number | undefined): boolean {
    return issuedAt === undefined || issuedAt < this.issuedBefore
  }
}

function maskOf(names: Names): number {
  return names.reduce((nameMask, name, i) => (name === null ? nameMask : nameMask | (1 << i)), 0)
}

/** The names of a mask in one text; undefined: one of them is not there. */
export function keyOf(names: Names, nameMask: number): string | undefined {
  let key = ''
  for (let i = 0; i < names.length; i++) {
    if ((nameMask & (1 << i)) === 0) continue
    const name = names[i] ?? null
    if (name === null) return undefined
    key += name
  }
  return key
}

export function userOf([, , sub, issuer]: Names): string | null {
  return sub && sub + (issuer ?? '')
}
