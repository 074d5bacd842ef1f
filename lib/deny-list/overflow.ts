import type { HeldDenial } from './held-denial.ts'

/**
 * Entries that had no room in memory: until the last of them ends, it cannot be told which tokens
 * fall.
 */
export class Overflow {
  #all: HeldDenial | undefined
  readonly #issuers = new Map<string, HeldDenial>()

  /** @param issuer whose tokens alone it concerns; null: all tokens */
  add(denial: HeldDenial, issuer: string | null): void {
    if (issuer === null) this.#all = later(denial, this.#all)
    else this.#issuers.set(issuer, later(denial, this.#issuers.get(issuer)))
  }

  get concernsAll(): boolean {
    return lasts(this.#all)
  }

  concerns(issuer: string | null): boolean {
    return issuer !== null && lasts(this.#issuers.get(issuer))
  }

  get isEmpty(): boolean {
    return !this.concernsAll && ![...this.#issuers.values()].some(lasts)
  }
}

function later(denial: HeldDenial, other: HeldDenial | undefined): HeldDenial {
  return other === undefined || denial.endsAt > other.endsAt ? denial : other
}

function lasts(denial: HeldDenial | undefined): boolean {
  return denial !== undefined && !denial.hasEnded
}
