import { AuthError, ERR_AUTH_ISSUERS_UNAVAILABLE, ERR_AUTH_TOKEN_INVALID } from '../../errors.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { isThrown, withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import { type CompactJws, JoseHeaders, parseCompactJws } from '../jwt/compact-jws.ts'
import type { Logout } from '../jwt/logout-token.ts'
import { checkProvable } from '../jwt/verify.ts'
import type { KeyStats } from './authenticator.ts'
import type { Issuer } from './issuer.ts'
import type { Issuers } from './issuers.ts'
import { UNKNOWN_KEY } from './key-lookup.ts'
import type { Verified, VerifiedTokens } from './verified-tokens.ts'

/**
 * Most proofs of one token, each by the issuer of that moment, and most repeats of the decision on
 * one request. An issuer that changes all the time must not keep a request for ever.
 */
export const MOST_TURNS = 5

/** Tokens that are JWTs (RFC 7519): each is verified by its issuer. */
export class JwtVerifier {
  readonly #issuers: Issuers
  readonly #tokens: VerifiedTokens
  readonly #maxLength: number
  readonly #headers = new JoseHeaders()
  #unknownKids = 0

  constructor(issuers: Issuers, tokens: VerifiedTokens, maxLength: number) {
    this.#issuers = issuers
    this.#tokens = tokens
    this.#maxLength = maxLength
  }

  /** A copy. */
  get keyStats(): KeyStats {
    return { unknownKid: this.#unknownKids }
  }

  /**
   * The verified token; a promise only if its issuer or its key is not known yet, and then
   * one of `waits`.
   *
   * @throws ERR_AUTH_TOKEN_INVALID
   * @throws ERR_AUTH_ISSUERS_UNAVAILABLE, ERR_AUTH_KEYS_UNAVAILABLE
   */
  verify(token: string, waits: PendingRequests): MaybePromise<Verified | AuthError> {
    const jws = this.#parse(token)
    return this.#prove<Verified>({
      jws,
      waits,
      // An issuer that had to be asked for may have proved this token before.
      verifyWith: (issuer) =>
        (this.#issuers.areDynamic ? this.#tokens.get(token) : undefined) ??
        issuer.verify(token, jws, waits),
      stillCounts: ({ validity }) => validity.isValid,
    })
  }

  /** As `verify`, for a logout token. There is no cache of them: each comes once. */
  verifyLogout(
    token: string,
    clients: readonly string[],
    waits: PendingRequests,
  ): MaybePromise<Logout | AuthError> {
    const jws = this.#parse(token)
    return this.#prove<Logout>({
      jws,
      waits,
      verifyWith: (issuer) => issuer.verifyLogout(jws, clients, waits),
      stillCounts: (_logout, issuer) => issuer.isTrusted,
    })
  }

  #parse(token: string): CompactJws {
    const jws = parseCompactJws(token, this.#maxLength, this.#headers)
    // The issuer's own rules come after the answer, which may bring them.
    if (this.#issuers.areDynamic) checkProvable(jws)
    return jws
  }

  #prove<T>(attempt: Attempt<T>, turns = MOST_TURNS): MaybePromise<T | AuthError> {
    const issuer = this.#issuers.find(attempt.jws.payload, attempt.waits)
    if (!(issuer instanceof Promise)) return this.#proveBy(issuer, attempt, turns)
    return issuer.then((found) =>
      found.isRetired ? this.#proveAnew(attempt, turns) : this.#proveBy(found, attempt, turns),
    )
  }

  #proveBy<T>(issuer: Issuer, attempt: Attempt<T>, turns: number): MaybePromise<T | AuthError> {
    const proved = attempt.verifyWith(issuer)
    if (!(proved instanceof Promise)) return proved
    return proved.then(
      (result) => {
        if (issuer.isRetired) return this.#proveAnew(attempt, turns)
        if (result instanceof AuthError) return result
        return attempt.stillCounts(result, issuer) ? result : this.#proveAnew(attempt, turns)
      },
      (error) => {
        if (issuer.isRetired) return this.#proveAnew(attempt, turns)
        if (attempt.jws.header.kid !== undefined && isOfUnknownKey(error)) this.#unknownKids += 1
        return Promise.reject(error)
      },
    )
  }

  /** By the issuer of now: while the one before, or its keys, were waited for, it has changed. */
  #proveAnew<T>(attempt: Attempt<T>, turns: number): MaybePromise<T | AuthError> {
    if (turns === 1) throw changedIssuerRefusal()
    return this.#prove(attempt, turns - 1)
  }
}

/** The refusal of a request whose issuer was replaced while it waited. */
export function changedIssuerRefusal(): AuthError {
  const reason = 'the issuer changes all the time'
  return withoutStack(() => new ERR_AUTH_ISSUERS_UNAVAILABLE(1, reason))
}

interface Attempt<T> {
  readonly jws: CompactJws
  readonly waits: PendingRequests
  verifyWith(issuer: Issuer): MaybePromise<T | AuthError>
  /** True: a result still counts after a wait. */
  stillCounts(result: T, issuer: Issuer): boolean
}

function isOfUnknownKey(error: unknown): boolean {
  return isThrown(error, ERR_AUTH_TOKEN_INVALID) && error.reason === UNKNOWN_KEY
}
