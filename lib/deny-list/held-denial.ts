import { clock } from '../outside/clock.ts'
import type { Denial } from './deny-entry.ts'

/** Milliseconds. Readings of both clocks differ by less, if none was set. */
const ROUNDING = 1000

/** An entry in memory. */
export class HeldDenial {
  readonly names: Denial['names']
  readonly issuedBefore: number
  readonly until: number
  /** Its place among the endings. */
  slot = 0
  /** A reading of `clock`. */
  #endsAt: number

  constructor({ names, issuedBefore, until }: Denial) {
    this.names = names
    this.issuedBefore = issuedBefore
    this.until = until
    this.#endsAt = endOf(until)
  }

  /**
   * When it may end at the earliest: a reading of `clock`. The wall clock may have been set since
   * the entry was learnt: it ends on both clocks, so that no tokens come back to life.
   */
  get endsAt(): number {
    if (clock.now() >= this.#endsAt) this.#endsAt = Math.max(this.#endsAt, endOf(this.until))
    return this.#endsAt
  }

  get hasEnded(): boolean {
    return clock.now() >= this.endsAt
  }

  /** Whether it says all that another entry of the same names says. */
  covers(other: HeldDenial): boolean {
    const lasts = this.until >= other.until && this.endsAt > other.endsAt - ROUNDING
    return lasts && this.issuedBefore >= other.issuedBefore
  }

  /** @param issuedAt milliseconds since the epoch; undefined: the token does not say */
  fits(issuedAt: number | undefined): boolean {
    return issuedAt === undefined || issuedAt < this.issuedBefore
  }
}

function endOf(until: number): number {
  return clock.now() + until - Date.now()
}
