import type { FastifyRequest } from 'fastify'
import type { AuthError } from '../../errors.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import { isPlainObject, knownMembers, ownCopy } from '../../platform/runtime/own-property.ts'
import type { Principal } from '../authorization/principal.ts'
import type { Logout } from '../jwt/logout-token.ts'
import type { TokenNames } from '../jwt/registered-claims.ts'
import type { Possessed, ProofStats } from '../proofs/possession.ts'
import type { Issuer } from './issuer.ts'
import type { TokenCacheStats } from './token-cache.ts'
import type { Verified } from './verified-tokens.ts'

/** The steps on the way to a principal, for those who watch a request. */
export interface AuthTrace {
  /** True: the token was in the cache. Null: no token was read. */
  cached: boolean | null
  /** The text of the token, once it was read: `tokenFrom` may give it only once. */
  token: string | null
  /** The verified token; null until then, and in dev mode. */
  verified: Verified | null
  /** The keys that the sender has proved to hold. Verified once for each request. */
  possession: Possessed | null
  /** True: a token that is not bound to its sender is refused. */
  readonly mustBeBound: boolean
}

/** Figures of the keys of all issuers. */
export interface KeyStats {
  /** Tokens that were refused because they name a key that no set has, logout tokens too. */
  readonly unknownKid: number
}

/** Finds out who a request acts as. One instance serves a whole service. */
export interface Authenticator {
  open(): void
  close(): void
  readonly isReady: boolean
  /**
   * Gets new keys, if there are any to get.
   *
   * @param iss of one issuer; not given: of all that are configured
   * @throws ERR_AUTH_KEYS_UNAVAILABLE
   */
  refreshKeys(iss?: string): Promise<void>
  /** The application's answers are asked for anew: all, or those of `what`. */
  forget(what: Invalidation): void
  issuers(): readonly Issuer[]
  readonly tokenCache: TokenCacheStats
  readonly keyStats: KeyStats
  readonly proofs: ProofStats
  /**
   * The principal of a request, or its refusal; a promise only if it is not known at once, and
   * then one of `waits`.
   *
   * @param trace takes what is found on the way
   * @returns the principal, or ERR_AUTH_TOKEN_MISSING, ERR_AUTH_TOKEN_INVALID,
   * ERR_AUTH_KEYS_UNAVAILABLE, ERR_AUTH_ISSUERS_UNAVAILABLE, ERR_AUTH_INTROSPECTION_UNAVAILABLE,
   * ERR_AUTH_PROOFS_UNAVAILABLE, ERR_AUTH_RESOURCES_UNAVAILABLE or ERR_AUTH_REVOCATION_UNAVAILABLE
   */
  authenticate(
    request: FastifyRequest,
    waits: PendingRequests,
    trace: AuthTrace,
  ): MaybePromise<Principal | AuthError>
  /**
   * The principal of a token that came without a request, or its refusal, as `authenticate`. A
   * token that is bound to its sender is refused.
   */
  authenticateToken(
    token: string,
    waits: PendingRequests,
    trace: AuthTrace,
  ): MaybePromise<Principal | AuthError>
  /**
   * The logout of a logout token, or its refusal; a promise only if its issuer or its key is not
   * known yet, and then one of `waits`.
   *
   * @param clients whose users are logged out
   * @throws ERR_AUTH_TOKEN_INVALID
   * @throws ERR_AUTH_ISSUERS_UNAVAILABLE, ERR_AUTH_KEYS_UNAVAILABLE
   */
  verifyLogout(
    token: string,
    clients: readonly string[],
    waits: PendingRequests,
  ): MaybePromise<Logout | AuthError>
}

/**
 * Whose answers are forgotten: an issuer's, one user's, or, without members, everybody's. An
 * application that means everybody gives none.
 */
export interface Invalidation {
  /** The `iss` of the tokens; null: of those without one. */
  readonly issuer?: string | null
  /** The `sub` of the tokens. */
  readonly sub?: string
  /** Alone: what the option `tenants` has said of this tenant. */
  readonly tenant?: string
}

/** Without a prototype: what was not given is not there. */
export const EVERYBODY: Invalidation = ownCopy({})

/**
 * The argument of `forget()`. A member that is missing by mistake must not mean everybody.
 *
 * @throws TypeError
 */
export function readInvalidation(what: unknown): Invalidation {
  // Members that a class or another object lends it would be left out in silence.
  if (!isPlainObject(what)) {
    throw new TypeError('forget() takes a plain object with issuer and sub, or tenant')
  }
  const own = knownMembers(what, ['issuer', 'sub', 'tenant'])
  const isOne = ([name, value]: [unknown, unknown]) =>
    typeof value === 'string' || (name === 'issuer' && value === null)
  if (own === undefined || ![...own].every(isOne)) {
    throw new TypeError('forget() takes issuer (a string or null) and sub, or tenant (strings)')
  }
  if (own.size > 1 && own.has('tenant')) throw new TypeError('forget() takes tenant alone')
  return own.size === 0 ? EVERYBODY : ownCopy(Object.fromEntries(own))
}

export function isInvalidated(
  { issuer, sub }: Pick<TokenNames, 'issuer' | 'sub'>,
  what: Invalidation,
): boolean {
  return (
    (what.issuer === undefined || what.issuer === issuer) &&
    (what.sub === undefined || what.sub === sub)
  )
}
