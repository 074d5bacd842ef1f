import type { FastifyRequest } from 'fastify'
import { AuthError, ERR_AUTH_TOKEN_MISSING } from '../../errors.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import { after, type MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { ExternalRights } from '../authorization/external-rights.ts'
import type { Principal } from '../authorization/principal.ts'
import { isOpaque } from '../jwt/compact-jws.ts'
import type { Logout } from '../jwt/logout-token.ts'
import { tokenRefusal } from '../jwt/token-refusal.ts'
import type { Possession, ProofStats, Sent } from '../proofs/possession.ts'
import type { Authenticator, AuthTrace, Invalidation, KeyStats } from './authenticator.ts'
import { extractToken, type TokenRules } from './extract-token.ts'
import type { Issuer } from './issuer.ts'
import type { Issuers } from './issuers.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import type { OpaqueTokens } from './opaque-tokens.ts'
import { checkRevocation, isDenyList, type RevocationRules } from './revocation-check.ts'
import type { TokenCacheStats } from './token-cache.ts'
import type { Verified, VerifiedTokens } from './verified-tokens.ts'

interface BearerRules extends RevocationRules, TokenRules {}

interface TokenParts {
  readonly issuers: Issuers
  readonly tokens: VerifiedTokens
  readonly jwts: JwtVerifier
  /** Undefined: a token that is no JWT is refused. */
  readonly opaqueTokens?: OpaqueTokens | undefined
  /** Rights of the issuers that have no others; undefined: there are none. */
  readonly rights?: ExternalRights | undefined
  /** Undefined: no token is bound to its sender. */
  readonly possession?: Possession | undefined
}

/**
 * Production: a bearer token (RFC 6750), or one that is bound to its sender (RFC 9449, RFC 8705),
 * verified by its issuer.
 */
export class BearerAuthenticator implements Authenticator {
  readonly #parts: TokenParts
  readonly #rules: BearerRules
  readonly #hasDenyList: boolean

  constructor(parts: TokenParts, rules: BearerRules) {
    this.#parts = parts
    this.#rules = rules
    this.#hasDenyList = isDenyList(rules.isRevoked)
  }

  open(): void {
    this.#parts.issuers.open()
    this.#parts.opaqueTokens?.open()
    this.#parts.rights?.open()
  }

  close(): void {
    this.#parts.issuers.close()
    this.#parts.opaqueTokens?.close()
    this.#parts.rights?.close()
  }

  get isReady(): boolean {
    return this.#parts.issuers.isReady
  }

  refreshKeys(iss?: string): Promise<void> {
    return this.#parts.issuers.refreshKeys(iss)
  }

  forget(what: Invalidation): void {
    const { issuer, sub } = what
    // Nobody issues the tokens that name no issuer.
    if (sub === undefined && issuer !== null) this.#parts.issuers.forget(issuer)
    this.#parts.opaqueTokens?.forget(what)
    this.#parts.rights?.forget(what)
    for (const { external } of this.issuers()) external?.forget(what)
  }

  issuers(): readonly Issuer[] {
    return this.#parts.issuers.all()
  }

  get tokenCache(): TokenCacheStats {
    return this.#parts.tokens.stats
  }

  get keyStats(): KeyStats {
    return this.#parts.jwts.keyStats
  }

  get proofs(): ProofStats {
    return this.#parts.possession?.stats ?? { size: 0, replayed: 0 }
  }

  authenticate(
    request: FastifyRequest,
    waits: PendingRequests,
    trace: AuthTrace,
  ): MaybePromise<Principal | AuthError> {
    // The last gate proves the same token again: a hook may have put another one into the header.
    const token = trace.token ?? extractToken(request, this.#rules) // 401
    trace.token = token
    if (token === null) return withoutStack(() => new ERR_AUTH_TOKEN_MISSING('no bearer token'))
    const known = this.#parts.tokens.recall(token) // 401
    trace.cached ??= known !== undefined
    const verified = known ?? this.#verify(token, waits) // 401, 503
    const sent = { request, token }
    if (!(verified instanceof Promise)) return this.#principalOf(verified, sent, waits, trace)
    return verified.then((found) => this.#principalOf(found, sent, waits, trace))
  }

  authenticateToken(
    token: string,
    waits: PendingRequests,
    trace: AuthTrace,
  ): MaybePromise<Principal | AuthError> {
    if (token === '') return withoutStack(() => new ERR_AUTH_TOKEN_MISSING('an empty token'))
    if (trace.mustBeBound) return tokenRefusal('not bound to its sender')
    const known = this.#parts.tokens.recall(token) // 401
    trace.cached ??= known !== undefined
    return after(known ?? this.#verify(token, waits), (verified) => {
      if (verified instanceof AuthError) return verified
      if (verified.confirmation !== null) return tokenRefusal('bound to its sender')
      trace.verified = verified
      return this.#unrevoked(verified, waits)
    })
  }

  verifyLogout(
    token: string,
    clients: readonly string[],
    waits: PendingRequests,
  ): MaybePromise<Logout | AuthError> {
    return this.#parts.jwts.verifyLogout(token, clients, waits)
  }

  #principalOf(
    verified: Verified | AuthError,
    sent: Sent,
    waits: PendingRequests,
    trace: AuthTrace,
  ): MaybePromise<Principal | AuthError> {
    if (verified instanceof AuthError) return verified
    trace.verified = verified
    const { possession } = this.#parts
    // Whoever sends a bound token has to hold its keys, before anything is asked for its user.
    if (possession !== undefined) {
      const proved = possession.prove(sent, verified.confirmation, trace, waits) // 401, 503
      if (proved instanceof Promise) {
        return proved.then((possession) => {
          trace.possession = possession
          return this.#unrevoked(verified, waits)
        })
      }
      trace.possession = proved
    }
    const { external, principal } = verified
    if (external === undefined && this.#rules.isRevoked === undefined) return principal
    return this.#unrevoked(verified, waits)
  }

  #unrevoked(verified: Verified, waits: PendingRequests): MaybePromise<Principal> {
    const { external } = verified
    const unrevoked = (user: Principal) => checkRevocation(user, verified, this.#rules, waits)
    if (external === undefined) return unrevoked(verified.principal) // 401, 503
    // A deny list needs the token alone. A revoked user must hold no place among the questions.
    if (this.#hasDenyList) {
      return after(unrevoked(verified.principal), () => external.of(verified, waits))
    }
    return after(external.of(verified, waits), unrevoked)
  }

  /**
   * The kind of a token is decided once: a token that fails as one kind is never tried as the
   * other.
   */
  #verify(token: string, waits: PendingRequests): MaybePromise<Verified | AuthError> {
    const { jwts, opaqueTokens } = this.#parts
    if (opaqueTokens === undefined || !isOpaque(token)) return jwts.verify(token, waits)
    return opaqueTokens.verify(token, waits)
  }
}
