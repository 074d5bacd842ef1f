import { keptBytes } from '../outside/crowded.ts'
import type { Pin } from '../rights/pin.ts'
import type { Principal } from '../rights/principal.ts'
import { type Lifetime, refusedLifetime } from '../tokens/registered-claims.ts'
import type { TokenNames } from '../tokens/token-info.ts'
import { TokenRefused } from '../tokens/token-refused.ts'
import type { Proof } from './proof.ts'
import { TokenCache } from './token-cache.ts'
import type { TokenCacheStats } from './token-cache-stats.ts'

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
  /** Whether it stands for a token that is no JWT. */
  readonly isOpaque: boolean
}

/** The tokens that were verified, of all issuers, each bound to what proved it. */
export class VerifiedTokens {
  readonly #cache: TokenCache<Verified>

  readonly #clockTolerance: number
  #hits = 0
  #misses = 0

  /**
   * @param size most tokens that are kept
   * @param clockTolerance in seconds
   */
  constructor(size: number, clockTolerance: number) {
    this.#cache = new TokenCache(
      size,
      ({ principal, names }) => principal.keptSize + keptBytes(names),
    )
    this.#clockTolerance = clockTolerance
  }

  /**
   * What the token stands for, where it is known and its proof still holds; refused where it is out
   * of its time.
   */
  get(token: string): Verified | TokenRefused | undefined {
    const verified = this.#cache.get(token)
    if (verified === undefined || !verified.proof.holds) return undefined
    return refusedLifetime(verified.lifetime, this.#clockTolerance) ?? verified
  }

  /** As `get()`, counted; for the first look of a request. */
  recall(token: string): Verified | TokenRefused | undefined {
    const known = this.get(token)
    if (known === undefined) this.#misses++
    else if (!(known instanceof TokenRefused)) this.#hits++
    return known
  }

  /** A copy. */
  get stats(): TokenCacheStats {
    const { size, evictions } = this.#cache
    return { size, hits: this.#hits, misses: this.#misses, evictions }
  }

  /** Those that fit are known no more. */
  forget(fits: (verified: Verified) => boolean): void {
    this.#cache.forget(fits)
  }

  set(token: string, verified: Verified): void {
    this.#cache.set(token, verified)
  }
}
