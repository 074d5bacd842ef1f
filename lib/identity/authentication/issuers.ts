import { ERR_AUTH_KEYS_UNAVAILABLE } from '../../errors.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import { mismatch, tokenRefusal } from '../jwt/token-refusal.ts'
import type { Issuer } from './issuer.ts'

export interface Issuers {
  open(): void
  close(): void
  readonly isReady: boolean
  /** True: a function of the application names the issuers. */
  readonly areDynamic: boolean
  /**
   * @param iss of one issuer; not given: of all that are configured
   * @throws ERR_AUTH_KEYS_UNAVAILABLE
   */
  refreshKeys(iss?: string): Promise<void>
  /**
   * The issuer of a token; a promise only if it has to be asked for, and then one of `waits`.
   *
   * @param claimed what the token says, which may choose among those that are trusted
   * @throws ERR_AUTH_TOKEN_INVALID
   * @throws ERR_AUTH_ISSUERS_UNAVAILABLE
   */
  find(claimed: Claimed, waits: PendingRequests): MaybePromise<Issuer>
  /**
   * The application's answer about an issuer is asked for anew.
   *
   * @param iss of one issuer; not given: of all
   */
  forget(iss?: string): void
  all(): readonly Issuer[]
}

/** The part of a token that chooses its issuer. It need not be proved. */
export interface Claimed {
  /**
   * The claim `iss` (RFC 7519 §4.1.1); undefined: there is none, or it is no string. A getter, which
   * looks for it in the payload: a single issuer does without.
   */
  readonly iss: string | undefined
}

/** Issuers that stand in the configuration. A single one judges every token. */
export class ListedIssuers implements Issuers {
  readonly areDynamic = false
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
    for (const issuer of this.#issuers) issuer.open()
  }

  close(): void {
    for (const issuer of this.#issuers) issuer.close()
  }

  /** Every issuer of all tenants can verify. If each is pinned, one that can is enough. */
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
    // A single issuer checks `iss` itself, if it has one to check.
    if (this.#only !== undefined) return this.#only
    const { iss } = claimed
    const issuer = iss === undefined ? undefined : this.#byIss.get(iss)
    if (issuer !== undefined) return issuer
    throw tokenRefusal('the issuer is not accepted', mismatch('iss', this.#byIss.keys(), iss))
  }

  /** Configured lists have nothing to forget. */
  forget(): void {}

  all(): readonly Issuer[] {
    return this.#issuers
  }
}
