import type { AuthError } from '../../errors.ts'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import { mismatch, refuseToken } from './refuse-token.ts'

export interface ClaimRules {
  /** Accepted `iss`; undefined: not checked. */
  readonly issuer?: readonly string[] | undefined
  /** Accepted `aud`, one of which must be named; undefined: not checked. */
  readonly audience?: readonly string[] | undefined
  /** `ignore`: a token that is bound to its sender counts as one that is not. */
  readonly confirmation?: 'refuse' | 'ignore' | undefined
}

/** When a token is valid, in seconds since the epoch (RFC 7519 §4.1.4 to §4.1.6). */
export interface Lifetime {
  readonly exp: number | undefined
  readonly nbf: number | undefined
  readonly iat: number | undefined
}

/**
 * Whose token it is, and for whom. Each claim is an own property of the right type. What a stranger
 * can cause for nothing is given back, since to throw it costs more than to find it.
 *
 * @returns undefined: the rules accept it
 */
export function refusedClaims(claims: object, rules: ClaimRules): AuthError | undefined {
  const { issuer, audience } = rules
  const iss = ownProperty(claims, 'iss')
  if (issuer && !issuer.some((accepted) => accepted === iss)) {
    return refuseToken('the issuer is not accepted', mismatch('iss', issuer, iss))
  }
  const aud = ownProperty(claims, 'aud')
  if (audience && !names(aud, audience)) {
    return refuseToken('the audience is not accepted', mismatch('aud', audience, aud))
  }
  if (rules.confirmation !== 'ignore' && isBound(ownProperty(claims, 'cnf'))) {
    return refuseToken('bound to its sender')
  }
  return undefined
}

/** @throws ERR_AUTH_TOKEN_INVALID where one of them is no time */
export function readLifetime(claims: object): Lifetime {
  return { exp: time(claims, 'exp'), nbf: time(claims, 'nbf'), iat: time(claims, 'iat') }
}

/**
 * Whether a token is out of its time, on each use anew. `tolerance` is in seconds. `exp` counts to
 * the millisecond, the start to the whole second: of two readings always the stricter.
 *
 * @returns undefined: it is valid now
 */
export function refusedLifetime(
  { exp, nbf, iat }: Lifetime,
  tolerance: number,
): AuthError | undefined {
  const now = Date.now() / 1000
  if (exp !== undefined && now >= exp + tolerance) return refuseToken('expired')
  const latestStart = Math.floor(now) + tolerance
  if (nbf !== undefined && nbf > latestStart) return refuseToken('not valid yet')
  if (iat !== undefined && iat > latestStart) return refuseToken('issued in the future')
  return undefined
}

/** JSON has no Infinity, but `1e999` parses to it. */
function time(claims: object, name: 'exp' | 'nbf' | 'iat'): number | undefined {
  const value = ownProperty(claims, name)
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw refuseToken(`${name} is not a time`)
  }
  return value
}

/**
 * RFC 7800 §3.1: `cnf` is an object whose members name the key that the sender has to show. One
 * without members names none. Any other value is malformed, and so rather a binding than none.
 */
function isBound(cnf: unknown): boolean {
  if (cnf === undefined) return false
  return !isObject(cnf) || Object.keys(cnf).length > 0
}

/**
 * RFC 7519 §4.1.3: one string or a list of strings. A list with anything else in it is malformed.
 */
function names(aud: unknown, accepted: readonly string[]): boolean {
  const audiences = Array.isArray(aud) ? aud : [aud]
  if (!audiences.every((item) => typeof item === 'string')) return false
  return audiences.some((item) => accepted.includes(item))
}
