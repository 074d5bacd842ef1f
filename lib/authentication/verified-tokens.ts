import type { KeySet } from '../keys/key-set.ts'
import type { Principal } from '../rights/principal.ts'
import { keptSize } from '../tokens/kept-size.ts'
import type { Lifetime } from '../tokens/registered-claims.ts'
import type { TokenNames } from '../tokens/token-info.ts'
import { TokenCache } from './token-cache.ts'

/** What a verified token stands for. */
export interface Verified {
  readonly principal: Principal
  readonly lifetime: Lifetime
  /** For `isRevoked`. */
  readonly names: TokenNames
}

/**
 * The tokens that were verified, bound to the key set that proved them: another set proves them
 * anew.
 */
export class VerifiedTokens {
  readonly #cache: TokenCache<Verified>
  /** The key set that everything in the cache was verified with. */
  #provedBy: KeySet | undefined

  /** @param size most tokens that are kept */
  constructor(size: number) {
    this.#cache = new TokenCache(size)
  }

  /** What the token stands for, where these keys have proved it. Its lifetime may be over. */
  get(token: string, keys: KeySet | undefined): Verified | undefined {
    return keys !== undefined && keys === this.#provedBy ? this.#cache.get(token) : undefined
  }

  set(token: string, keys: KeySet, verified: Verified): void {
    if (keys !== this.#provedBy) {
      this.#cache.clear()
      this.#provedBy = keys
    }
    const { principal, names } = verified
    this.#cache.set(token, verified, principal.keptSize + keptSize(names))
  }
}
