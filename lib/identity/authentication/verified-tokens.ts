import { AuthError } from '../../errors.ts'
import type { ExternalRights } from '../authorization/external-rights.ts'
import type { Principal } from '../authorization/principal.ts'
import type { AllowedTenants } from '../authorization/rights.ts'
import type { Confirmation } from '../jwt/confirmation.ts'
import { type Lifetime, lifetimeRefusal, type TokenNames } from '../jwt/registered-claims.ts'
import { TokenCache, type TokenCacheStats } from './token-cache.ts'

/** Bytes of a confirmation, with the key and the header that it remembers. */
const BOUND = 8192

/** Bytes of the names of a token without their letters. */
const NAMES = 256

export interface Verified {
  /** With the rights that the token itself names. */
  readonly principal: Principal
  readonly lifetime: Lifetime
  /** For `isRevoked` and `resourcesOf`. */
  readonly names: TokenNames
  /** The tenants for which its issuer may speak. */
  readonly tenants: AllowedTenants
  /** Undefined: its user's rights are those of the token. */
  readonly external: ExternalRights | undefined
  readonly validity: Validity
  /** The keys that its sender has to prove; null: none. */
  readonly confirmation: Confirmation | null
  /** True: the token is no JWT. */
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
      ({ principal, names, confirmation }) =>
        principal.keptSize + sizeOf(names) + (confirmation === null ? 0 : BOUND),
    )
    this.#clockTolerance = clockTolerance
  }

  /** A refusal, if the token is known and out of its time. */
  get(token: string): Verified | AuthError | undefined {
    const verified = this.#cache.get(token)
    if (verified === undefined || !verified.validity.isValid) return undefined
    return lifetimeRefusal(verified.lifetime, this.#clockTolerance) ?? verified
  }

  /** `get()`, counted, for the first look of a request. */
  recall(token: string): Verified | AuthError | undefined {
    const known = this.get(token)
    if (known === undefined) this.#misses++
    else if (!(known instanceof AuthError)) this.#hits++
    return known
  }

  get stats(): TokenCacheStats {
    const { size, evictions } = this.#cache
    return { size, hits: this.#hits, misses: this.#misses, evictions }
  }

  forget(fits: (verified: Verified) => boolean): void {
    this.#cache.forget(fits)
  }

  set(token: string, verified: Verified): void {
    this.#cache.set(token, verified)
  }
}

/** `mapClaims` may drop the names of the claims, so these are counted apart. */
function sizeOf({ issuer, sub, jti, sid }: TokenNames): number {
  return NAMES + 2 * [issuer, sub, jti, sid].reduce((sum, name) => sum + (name?.length ?? 0), 0)
}

/** The reason why a verified token is believed, which may end. */
export interface Validity {
  readonly isValid: boolean
  /** True: its issuer is gone, or has other rules. */
  readonly hasEnded: boolean
  /**
   * True: it has ended, or its keys have been replaced. An answer that it rests on may have grown
   * old meanwhile: a request may wait for longer.
   */
  readonly isWithdrawn: boolean
  /** True: it rests on an answer that has grown too old for a request that comes now. */
  readonly isOutdated: boolean
}

/**
 * A proof that ends. Thousands of kept tokens may share one, so it lets go of all that it rests on
 * when it ends: a key set, and its issuer.
 */
export class EndingValidity implements Validity {
  hasEnded = false
  readonly isOutdated = false
  #isTrusted: (() => boolean) | undefined
  #hasItsKeys: () => boolean

  /** @param hasItsKeys false: other keys are in place of those that proved it */
  constructor(isTrusted: () => boolean, hasItsKeys = () => true) {
    this.#isTrusted = isTrusted
    this.#hasItsKeys = hasItsKeys
  }

  get isValid(): boolean {
    return this.#isTrusted?.() ?? false
  }

  get isWithdrawn(): boolean {
    return !this.#hasItsKeys()
  }

  /**
   * It lets no new request in. Those under way may still rest on it.
   *
   * @param hasItsKeys false: they may not, since its issuer has gone or has other rules
   */
  closeToNewRequests(hasItsKeys: () => boolean): void {
    this.#isTrusted = undefined
    this.#hasItsKeys = hasItsKeys
  }

  end(): void {
    this.hasEnded = true
    this.closeToNewRequests(() => false)
  }
}
