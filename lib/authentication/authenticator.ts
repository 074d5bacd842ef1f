import type { FastifyRequest } from 'fastify'
import type { AuthError } from '../errors.ts'
import type { NowOrLater } from '../outside/now-or-later.ts'
import type { Waits } from '../outside/waits.ts'
import type { Principal } from '../rights/principal.ts'
import type { Forgotten } from './forgotten.ts'
import type { Issuer } from './issuer.ts'
import type { TokenCacheStats } from './token-cache-stats.ts'
import type { Verified } from './verified-tokens.ts'

/** What was found on the way to a principal. Those who watch a request want to know it. */
export interface Finding {
  /** Whether the token was known, or had to be verified. Null: none was read. */
  cached: boolean | null
  /** What the token stands for; null until it is verified, and in dev mode. */
  verified: Verified | null
}

/** Finds out who a request acts as. One instance serves a whole service. */
export interface Authenticator {
  /** Starts what runs in the background. */
  open(): void
  /** Ends what runs in the background. */
  close(): void
  /** Whether a request can be authenticated now. */
  readonly isReady: boolean
  /**
   * Gets new keys, where there are any to get.
   *
   * @param iss of one issuer; not given: of all that are configured
   * @throws ERR_AUTH_KEYS_UNAVAILABLE
   */
  refreshKeys(iss?: string): Promise<void>
  /** What the application has told is asked anew: of everything, or as `what` says. */
  forget(what: Forgotten): void
  /** The issuers that are known now. */
  issuers(): readonly Issuer[]
  /** What is known of the tokens that were verified before. */
  readonly tokenCache: TokenCacheStats
  /**
   * The principal of a request, or its refusal; a promise only where it cannot be told at once, and
   * then one of `waits`.
   *
   * @param finding where the way is noted
   * @returns the principal, or ERR_AUTH_TOKEN_MISSING, ERR_AUTH_TOKEN_INVALID,
   * ERR_AUTH_KEYS_UNAVAILABLE, ERR_AUTH_ISSUERS_UNAVAILABLE, ERR_AUTH_INTROSPECTION_UNAVAILABLE,
   * ERR_AUTH_RESOURCES_UNAVAILABLE or ERR_AUTH_REVOCATION_UNAVAILABLE
   */
  authenticate(
    request: FastifyRequest,
    waits: Waits,
    finding?: Finding,
  ): NowOrLater<Principal | AuthError>
}
