import type { AuthError } from '../../errors.ts'
import { type ReportFailure, thrown, unusable } from '../../platform/callbacks/call-with-timeout.ts'
import { ignoreRejection } from '../../platform/runtime/maybe-promise.ts'
import { supportedAlgorithms, verifySignature } from '../jwks/algorithms.ts'
import type { VerificationKey } from '../jwks/jwk.ts'
import type { CompactJws } from './compact-jws.ts'
import { checkHeader, type HeaderRules } from './jose-header.ts'
import { mismatch, refuseToken } from './refuse-token.ts'
import {
  type ClaimRules,
  type Lifetime,
  readLifetime,
  refusedClaims,
  refusedLifetime,
} from './registered-claims.ts'
import { type Actor, readActor, readTokenNames, type TokenNames } from './token-info.ts'
import { problemOf, readUserInfo, type UserInfo } from './user-info.ts'

export interface VerifyRules extends HeaderRules, AcceptRules {}

/**
 * Refuses what no signature of any issuer can save: an algorithm that is not supported here, such
 * as `none` and HS256, and a token without a signature.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function refuseUnprovable({ header: { alg }, signature }: CompactJws): void {
  if (!supportedAlgorithms.includes(alg)) {
    const found = mismatch('alg', supportedAlgorithms, alg)
    throw refuseToken('the algorithm is not allowed', found)
  }
  if (signature.length === 0) throw refuseToken('there is no signature')
}

/**
 * The refusal of what no signature can save: a header that the rules do not allow, and claims that
 * they do not accept, if these are cheap to read. It costs a part of a signature.
 *
 * @returns undefined: the signature decides
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function refusedUnproved(
  { header, payload, signature }: CompactJws,
  rules: VerifyRules,
): AuthError | undefined {
  checkHeader(header, rules)
  if (signature.length === 0) throw refuseToken('there is no signature')
  if (payload.claims === undefined) return undefined
  const refused = refusedClaims(payload.claims, rules)
  if (refused !== undefined) return refused
  const lifetime = readLifetime(payload.claims)
  refuseEndless(lifetime)
  return refusedLifetime(lifetime, rules.clockTolerance)
}

/** Whether the signature of a token is that of a key. */
export function isSigned(
  { header, signingInput, signature }: CompactJws,
  { key }: VerificationKey,
): boolean {
  return verifySignature(header.alg, key, signingInput, signature)
}

/**
 * Accepts the claims of a token whose signature is good. What could be refused before is checked
 * again, since the key may have been waited for.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function acceptToken({ payload }: CompactJws, rules: VerifyRules): AcceptedClaims {
  const accepted = acceptClaims(payload.read(), rules)
  refuseEndless(accepted.lifetime)
  return accepted
}

/**
 * A JWT says itself when it ends.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function refuseEndless({ exp }: Lifetime): void {
  if (exp === undefined) throw refuseToken('exp is missing')
}

export interface AcceptRules extends ClaimRules {
  /** Seconds. */
  readonly clockTolerance: number
  /** Turns another server's claims into user info. */
  readonly mapClaims?: ((claims: Record<string, unknown>) => UserInfo) | undefined
  /** Reports why `mapClaims` gave no user info. */
  readonly reportMapClaims?: ReportFailure | undefined
}

export interface AcceptedClaims {
  readonly userInfo: UserInfo
  readonly names: TokenNames
  readonly lifetime: Lifetime
  readonly actor: Actor | null
}

/**
 * The user of proven claims. They become the user info, or the argument of `mapClaims`, and are
 * frozen.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function acceptClaims(claims: Record<string, unknown>, rules: AcceptRules): AcceptedClaims {
  const lifetime = readLifetime(claims)
  const refused = refusedClaims(claims, rules) ?? refusedLifetime(lifetime, rules.clockTolerance)
  if (refused !== undefined) throw refused
  // Before the application's function, which may change the claims.
  const names = readTokenNames(claims)
  const actor = readActor(claims)
  const { mapClaims, reportMapClaims } = rules
  const userInfo = mapClaims ? mapped(claims, mapClaims, reportMapClaims) : readUserInfo(claims)
  return { userInfo, names, lifetime, actor }
}

/**
 * The application's function may return what it shares with others, so a copy of it is frozen and
 * kept.
 */
function mapped(
  claims: Record<string, unknown>,
  mapClaims: (claims: Record<string, unknown>) => UserInfo,
  report?: ReportFailure,
): UserInfo {
  let copy: unknown
  try {
    const userInfo: unknown = mapClaims(claims)
    ignoreRejection(userInfo)
    // Of nothing, and of a function, there is no text.
    const text: string | undefined = JSON.stringify(userInfo)
    copy = text === undefined ? userInfo : JSON.parse(text)
  } catch (error) {
    report?.(thrown(error))
    throw refuseToken('mapClaims failed')
  }
  const problem = problemOf(copy)
  if (problem !== undefined) report?.(unusable(problem))
  return readUserInfo(copy)
}
