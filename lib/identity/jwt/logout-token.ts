import type { AuthError } from '../../errors.ts'
import { isObject, ownMember } from '../../platform/runtime/own-property.ts'
import { type CompactJws, normalizeTokenType } from './compact-jws.ts'
import {
  type ClaimRules,
  checkHasEnd,
  LOGOUT,
  lifetimeRefusal,
  partiesRefusal,
  type RegisteredClaims,
  readLifetime,
  registeredClaims,
} from './registered-claims.ts'
import { tokenRefusal } from './token-refusal.ts'
import { checkHeader } from './verify.ts'

/** The user or session that is logged out. `sub`, `sid` or both are there. Immutable. */
export interface Logout {
  readonly issuer: string
  /** All sessions of this user, if there is no `sid`. */
  readonly sub: string | null
  readonly sid: string | null
  /** Tokens of an earlier `iat` are older than the logout: a second after its own. */
  readonly issuedBefore: Date
}

interface LogoutRules extends Pick<ClaimRules, 'issuer'> {
  readonly algorithms: ReadonlySet<string>
  /** Accepted `aud`: the clients whose users are logged out. */
  readonly audience: readonly string[]
  /** Seconds. */
  readonly clockTolerance: number
}

/** OpenID Connect Back-Channel Logout §2.4: older servers write another one, or none. */
const TYPES = new Set([normalizeTokenType('logout+jwt'), normalizeTokenType('JWT'), undefined])

/**
 * As `earlyRefusal`, for a logout token.
 *
 * @returns undefined: the signature decides
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function earlyLogoutRefusal(
  { header, payload, signature }: CompactJws,
  rules: LogoutRules,
): AuthError | undefined {
  checkHeader(header, { algorithms: rules.algorithms, tokenTypes: TYPES })
  if (signature.length === 0) throw tokenRefusal('there is no signature')
  return payload.claims && logoutClaimsRefusal(payload.claims, rules)
}

/**
 * Accepts the claims of a logout token whose signature is good (§2.6). Nobody remembers its `jti`:
 * whoever repeats it logs the same users out again, as of the same time.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function acceptLogout({ payload }: CompactJws, rules: LogoutRules): Logout {
  const given = payload.read()
  const claims = registeredClaims(given)
  const refusal = logoutClaimsRefusal(claims, rules)
  if (refusal !== undefined) throw refusal
  // Only an ID token has one (§2.4).
  if (Object.hasOwn(given, 'nonce')) throw tokenRefusal('a logout token with a nonce')
  const [issuer, jti] = [nameIn(claims, 'iss'), nameIn(claims, 'jti')]
  if (issuer === null) throw tokenRefusal('the issuer is missing')
  if (jti === null) throw tokenRefusal('jti is missing')
  const [sub, sid] = [nameIn(claims, 'sub'), nameIn(claims, 'sid')]
  if (sub === null && sid === null) throw tokenRefusal('neither sub nor sid')
  return Object.freeze({ issuer, sub, sid, issuedBefore: secondAfter(claims) })
}

function logoutClaimsRefusal(claims: RegisteredClaims, rules: LogoutRules): AuthError | undefined {
  if (!isObject(ownMember(claims.events, LOGOUT))) return tokenRefusal('no logout token')
  const refusal = partiesRefusal(claims, rules)
  if (refusal !== undefined) return refusal
  const lifetime = readLifetime(claims)
  checkHasEnd(lifetime)
  return lifetimeRefusal(lifetime, rules.clockTolerance)
}

/** Null: there is none. */
function nameIn(claims: RegisteredClaims, name: 'iss' | 'jti' | 'sub' | 'sid'): string | null {
  const value = claims[name]
  if (value === undefined) return null
  if (typeof value === 'string' && value !== '') return value
  throw tokenRefusal(`${name} is malformed`)
}

/** `iat` is in whole seconds: what was issued in that one is older. */
function secondAfter(claims: RegisteredClaims): Date {
  const { iat } = readLifetime(claims)
  if (iat === undefined) throw tokenRefusal('iat is missing')
  const time = new Date((iat + 1) * 1000)
  // Before the first year that a Date has.
  if (Number.isNaN(time.getTime())) throw tokenRefusal('iat is not a time')
  return time
}
