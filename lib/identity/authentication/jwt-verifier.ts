import { AuthError, ERR_AUTH_ISSUERS_UNAVAILABLE } from '../../errors.ts'
import type { PendingRequests } from '../../platform/callbacks/pending-requests.ts'
import { withoutStack } from '../../platform/runtime/error.ts'
import type { MaybePromise } from '../../platform/runtime/maybe-promise.ts'
import { type CompactJws, JoseHeaders, parseCompactJws } from '../jwt/compact-jws.ts'
import { refuseUnprovable } from '../jwt/verify.ts'
import type { Issuer } from './issuer.ts'
import type { Issuers } from './issuers.ts'
import type { Verified, VerifiedTokens } from './verified-tokens.ts'

/**
 * How often a token is proved anew because its issuer has changed meanwhile. Somebody who changes
 * it all the time must not keep a request for ever.
 */
const MOST_TURNS = 5

/** Tokens that are JWTs (RFC 7519): each is verified by its issuer. */
export class JwtVerifier {
  readonly #issuers: Issuers
  readonly #tokens: VerifiedTokens
  readonly #maxLength: number
  readonly #headers = new JoseHeaders()

  /** @param maxLength most characters of a token */
  constructor(issuers: Issuers, tokens: VerifiedTokens, maxLength: number) {
    this.#issuers = issuers
    this.#tokens = tokens
    this.#maxLength = maxLength
  }

  /**
   * The verified token; a promise only if its issuer or its key is not known yet, and then
   * one of `waits`.
   *
   * @throws ERR_AUTH_TOKEN_INVALID
   * @throws ERR_AUTH_ISSUERS_UNAVAILABLE, ERR_AUTH_KEYS_UNAVAILABLE
   */
  verify(token: string, waits: PendingRequests): MaybePromise<Verified | AuthError> {
    const jws = parseCompactJws(token, this.#maxLength, this.#headers)
    // The issuer's own rules come after the answer, which may bring them.
    if (this.#issuers.areAsked) refuseUnprovable(jws)
    return this.#prove({ token, jws, waits }, MOST_TURNS)
  }

  #prove(proving: Proving, turns: number): MaybePromise<Verified | AuthError> {
    const issuer = this.#issuers.find(proving.jws.payload, proving.waits)
    if (!(issuer instanceof Promise)) return this.#proveBy(issuer, proving, turns)
    return issuer.then((late) => this.#proveBy(late, proving, turns))
  }

  #proveBy(issuer: Issuer, proving: Proving, turns: number): MaybePromise<Verified | AuthError> {
    const { token, jws, waits } = proving
    // An issuer that had to be asked for may have proved this token before.
    const known = this.#issuers.areAsked ? this.#tokens.get(token) : undefined
    const verified = known ?? issuer.verify(token, jws, waits)
    if (!(verified instanceof Promise)) return verified
    const again = () => this.#again(proving, turns - 1)
    return verified.then(
      (proved) => (holds(proved, issuer) ? proved : again()),
      (error) => (issuer.isRetired ? again() : Promise.reject(error)),
    )
  }

  /** While keys were waited for, the issuer has changed, or is trusted no more. */
  #again(proving: Proving, turns: number): MaybePromise<Verified | AuthError> {
    if (turns > 0) return this.#prove(proving, turns)
    throw withoutStack(() => new ERR_AUTH_ISSUERS_UNAVAILABLE(1, 'the issuer changes all the time'))
  }
}

/** A token that is being verified. */
interface Proving {
  readonly token: string
  readonly jws: CompactJws
  readonly waits: PendingRequests
}

/** Whether a result still counts after a wait. */
function holds(proved: Verified | AuthError, issuer: Issuer): boolean {
  if (issuer.isRetired) return false
  return proved instanceof AuthError || proved.validity.isValid
}
