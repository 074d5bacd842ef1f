import type { Pin } from '../rights/pin.ts'
import type { Principal } from '../rights/principal.ts'
import { keptSize } from '../tokens/kept-size.ts'
import { checkLifetime, type Lifetime } from '../tokens/registered-claims.ts'
import type { TokenNames } from '../tokens/token-info.ts'
import type { Proof } from './proof.ts'
import { TokenCache } from './token-cache.ts'

/** What a verified token stands for. */
export interface Verified {
  /** By the token's own word. */
  readonly principal: Principal
  readonly lifetime: Lifetime
  /** For `isRevoked` and `resourcesOf`. */
  readonly names: TokenNames
  /** For which its issuer may speak. */
  readonly tenants: Pin
  readonly proof: Proof
}

/** The tokens that were verified, of all issuers, each bound to what proved it. */
export class VerifiedTokens {
  readonly #cache: TokenCache<Verified>

  readonly #clockTolerance: number
  readonly #copies: number

  /**
   * @param size most tokens that are kept
   * @param clockTolerance in seconds
   * @param copies how often a principal is kept
   */
  constructor(size: number, clockTolerance: number, copies = 1) {
    this.#cache = new TokenCache(size)
    this.#clockTolerance = clockTolerance
    this.#copies = copies
  }

  /**
   * What the token stands for, where it is known and its proof still holds.
   *
   * @throws TokenRefused where it is out of its time
   */
  get(token: string): Verified | undefined {
    const verified = this.#cache.get(token)
    if (verified === undefined || !verified.proof.holds) return undefined
    checkLifetime(verified.lifetime, this.#clockTolerance)
    return verified
  }

  set(token: string, verified: Verified): void {
    const { principal, names } = verified
    this.#cache.set(token, verified, this.#copies * (principal.keptSize + keptSize(names)))
  }
}
