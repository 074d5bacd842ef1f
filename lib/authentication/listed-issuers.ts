import { ERR_AUTH_KEYS_UNAVAILABLE } from '../errors.ts'
import { mismatch } from '../tokens/mismatch.ts'
import { TokenRefused } from '../tokens/token-refused.ts'
import type { Issuer } from './issuer.ts'
import type { Claimed, Issuers } from './issuers.ts'

/** Issuers that stand in the configuration. Where there is one, it judges every token. */
export class ListedIssuers implements Issuers {
  readonly areAsked = false
  readonly #issuers: readonly Issuer[]
  readonly #byIss: ReadonlyMap<string, Issuer>
  readonly #only: Issuer | undefined

  constructor(issuers: readonly Issuer[]) {
    this.#issuers = issuers
    this.#byIss = new Map(
      issuers.flatMap((issuer) => issuer.identifiers.map((iss) => [iss, issuer] as const)),
    )
    this.#only = issuers.length === 1 ? issuers[0] : undefined
  }

  open(): void {
    for (const { keys } of this.#issuers) keys.open()
  }

  close(): void {
    for (const { keys } of this.#issuers) keys.close()
  }

  /** Every issuer of all tenants can verify. Where each is pinned, one that can is enough. */
  get isReady(): boolean {
    const ofAll = this.#issuers.filter(({ isPinned }) => !isPinned)
    if (ofAll.length > 0) return ofAll.every(({ isReady }) => isReady)
    return this.#issuers.some(({ isReady }) => isReady)
  }

  async refreshKeys(iss?: string): Promise<void> {
    const asked = iss === undefined ? this.#issuers : [this.#byIss.get(iss)]
    await Promise.all(
      asked.map((issuer) => {
        if (issuer === undefined) throw new ERR_AUTH_KEYS_UNAVAILABLE(1, 'the issuer is not known')
        return issuer.refreshKeys()
      }),
    )
  }

  find(claimed: Claimed): Issuer {
    // It says itself whose tokens it accepts, and so `iss` need not be known before.
    if (this.#only !== undefined) return this.#only
    const { iss } = claimed
    const issuer = iss === undefined ? undefined : this.#byIss.get(iss)
    if (issuer !== undefined) return issuer
    throw new TokenRefused('the issuer is not accepted', mismatch('iss', this.#byIss.keys(), iss))
  }

  /** The configuration does not change. */
  forget(): void {}

  all(): readonly Issuer[] {
    return this.#issuers
  }
}
