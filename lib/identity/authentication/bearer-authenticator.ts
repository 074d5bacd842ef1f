import type { FastifyRequest } from 'fastify'
import { AuthError, ERR_AUTH_TOKEN_INVALID, ERR_AUTH_TOKEN_MISSING } from '../../errors.ts'
import type { ReportFailure } from '../../platform/callbacks/call-with-timeout.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { isThrown, withoutStack } from '../../platform/runtime/error.ts'
import { after, attempt, type MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import type { ExternalRights } from '../authorization/external-rights.ts'
import type { Principal } from '../authorization/principal.ts'
import { isJwt } from '../jwt/jose-header.ts'
import { TokenRefused } from '../jwt/token-refused.ts'
import type { Authenticator, Finding, Invalidation } from './authenticator.ts'
import { extractToken, type TokenFrom } from './extract-token.ts'
import type { Issuer } from './issuer.ts'
import type { Issuers } from './issuers.ts'
import type { JwtVerifier } from './jwt-verifier.ts'
import type { OpaqueTokens } from './opaque-tokens.ts'
import { checkRevocation, isDenyList, type RevocationRules } from './revocation-check.ts'
import type { TokenCacheStats } from './token-cache.ts'
import type { Verified, VerifiedTokens } from './verified-tokens.ts'

export interface BearerRules extends RevocationRules {
  readonly tokenFrom?: TokenFrom | undefined
  /** Is told why `tokenFrom` gave no token. */
  readonly reportTokenFrom?: ReportFailure | undefined
}

/** What a token is verified by. */
export interface TokenParts {
  readonly issuers: Issuers
  readonly tokens: VerifiedTokens
  readonly jwts: JwtVerifier
  /** Undefined: a token that is no JWT is refused. */
  readonly opaqueTokens?: OpaqueTokens | undefined
  /** Undefined: the rights are those of the token. */
  readonly rights?: ExternalRights | undefined
}

/** Production: a bearer token (RFC 6750), verified by its issuer. */
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
  }

  issuers(): readonly Issuer[] {
    return this.#parts.issuers.all()
  }

  get tokenCache(): TokenCacheStats {
    return this.#parts.tokens.stats
  }

  authenticate(
    request: FastifyRequest,
    waits: PendingRequests,
    finding?: Finding,
  ): MaybePromise<Principal | AuthError> {
    return attempt(() => this.#authenticated(request, waits, finding), asItIs, asRefusal)
  }

  /**
   * Step by step. A step refuses by throwing, or, where strangers can cause it for nothing, by what
   * it returns. A promise only where a step has to wait for somebody.
   */
  #authenticated(
    request: FastifyRequest,
    waits: PendingRequests,
    finding: Finding = { cached: null, verified: null },
  ): MaybePromise<Principal | AuthError> {
    const { tokenFrom, reportTokenFrom } = this.#rules
    const token = extractToken(request, tokenFrom, reportTokenFrom) //               401
    if (token === null) return withoutStack(() => new ERR_AUTH_TOKEN_MISSING('no bearer token'))
    const known = this.#parts.tokens.recall(token) //                                  401
    finding.cached = known !== undefined
    const verified = known ?? this.#verify(token, waits) //                            401, 503
    return after(verified, (proved) => {
      if (proved instanceof TokenRefused) return asRefusal(proved)
      finding.verified = proved
      return this.#admitted(proved, waits) //                                          401, 503
    })
  }

  #admitted(proved: Verified, waits: PendingRequests): MaybePromise<Principal> {
    const { rights } = this.#parts
    const unrevoked = (user: Principal) => checkRevocation(user, proved, this.#rules, waits)
    if (rights === undefined) return unrevoked(proved.principal)
    // A deny list looks at the token alone. Who is on it must not hold a place among the questions.
    if (this.#hasDenyList) return after(unrevoked(proved.principal), () => rights.of(proved, waits))
    return after(rights.of(proved, waits), unrevoked)
  }

  /** Which kind a token is is decided once: what fails as one kind is never tried as the other. */
  #verify(token: string, waits: PendingRequests): MaybePromise<Verified | TokenRefused> {
    const { jwts, opaqueTokens } = this.#parts
    if (opaqueTokens === undefined || isJwt(token)) return jwts.verify(token, waits)
    return opaqueTokens.verify(token, waits)
  }
}

function asItIs<T>(outcome: T): T {
  return outcome
}

const UNREADABLE = { reason: 'the token cannot be read', mismatch: undefined }

/**
 * An error of ours as it is. Of all else, what an application's function threw too, a caller is
 * told no more than that the token is not valid.
 */
function asRefusal(error: unknown): AuthError {
  if (isThrown(error, AuthError)) return error
  const { reason, mismatch } = isThrown(error, TokenRefused) ? error : UNREADABLE
  return withoutStack(() => new ERR_AUTH_TOKEN_INVALID(reason, mismatch))
}
