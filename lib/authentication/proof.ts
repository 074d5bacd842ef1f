/** Why a verified token is believed. */
export interface Proof {
  /** Whether that is so still. */
  readonly holds: boolean
}

/**
 * A proof that ends. Thousands of kept tokens may share one, so it lets go of all that it rests on
 * when it ends: a key set, and its issuer.
 */
export class EndingProof implements Proof {
  #isSo: (() => boolean) | undefined

  constructor(isSo: () => boolean) {
    this.#isSo = isSo
  }

  get holds(): boolean {
    return this.#isSo?.() ?? false
  }

  end(): void {
    this.#isSo = undefined
  }
}
