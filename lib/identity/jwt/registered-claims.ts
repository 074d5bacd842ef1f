import type { AuthError } from '../../errors.ts'
import { type Unusable, unexpected } from '../../platform/http/failure.ts'
import { isObject, ownMember } from '../../platform/runtime/own-property.ts'
import { AddressedTenants, type TenantsByAddress } from './addressed-tenants.ts'
import { asksForProof, type ConfirmationRule, readConfirmation } from './confirmation.ts'
import { mismatch, tokenRefusal } from './token-refusal.ts'

/**
 * The claims that this package reads, as they stand in a token: by its own properties only, and of
 * any type. `constructor` and all else that Object.prototype holds would answer too.
 */
export interface RegisteredClaims {
  /** RFC 7519 §4.1. */
  readonly iss: unknown
  readonly sub: unknown
  readonly aud: unknown
  readonly exp: unknown
  readonly nbf: unknown
  readonly iat: unknown
  readonly jti: unknown
  /** OpenID Connect Front-Channel Logout §3. */
  readonly sid: unknown
  /** RFC 7800 §3.1. */
  readonly cnf: unknown
  /** RFC 8693 §4.1. */
  readonly act: unknown
  /** OpenID Connect Core §2, RFC 9068 §2.2.1. */
  readonly acr: unknown
  readonly auth_time: unknown
  /** RFC 8417 §2.2. */
  readonly events: unknown
}

/** @param claims data, such as JSON, without getters */
export function registeredClaims(claims: Readonly<Record<string, unknown>>): RegisteredClaims {
  let iss: unknown, sub: unknown, aud: unknown, exp: unknown, nbf: unknown, iat: unknown
  let jti: unknown, sid: unknown, cnf: unknown, act: unknown, acr: unknown, auth_time: unknown
  let events: unknown
  // A copy without a prototype would cost twenty times as much for each new token.
  for (const name of Object.keys(claims)) {
    const value = claims[name]
    if (name === 'iss') iss = value
    else if (name === 'sub') sub = value
    else if (name === 'aud') aud = value
    else if (name === 'exp') exp = value
    else if (name === 'nbf') nbf = value
    else if (name === 'iat') iat = value
    else if (name === 'jti') jti = value
    else if (name === 'sid') sid = value
    else if (name === 'cnf') cnf = value
    else if (name === 'act') act = value
    else if (name === 'acr') acr = value
    else if (name === 'auth_time') auth_time = value
    else if (name === 'events') events = value
  }
  return { iss, sub, aud, exp, nbf, iat, jti, sid, cnf, act, acr, auth_time, events }
}

export interface ClaimRules {
  /** Accepted `iss`; undefined: not checked. */
  readonly issuer?: readonly string[] | undefined
  /** Accepted `aud`, one of which must be named; undefined: not checked, but for `addresses`. */
  readonly audience?: readonly string[] | undefined
  /** Accepted `aud` too, each for one tenant; undefined: none. */
  readonly addresses?: TenantsByAddress | undefined
  /**
   * `ignore`: a token that is bound to its sender counts as one that is not. `check`: its sender
   * has to prove that. Undefined: it is refused.
   */
  readonly confirmation?: ConfirmationRule | undefined
}

/** When a token is valid, in seconds since the epoch (RFC 7519 §4.1.4 to §4.1.6). */
export interface Lifetime {
  readonly exp: number | undefined
  readonly nbf: number | undefined
  readonly iat: number | undefined
}

/**
 * A refusal that a stranger can cause for nothing is returned, since to throw it costs more than to
 * find it.
 *
 * @returns undefined: the rules accept the issuer, the audience and the type of the token
 * @throws ERR_AUTH_TOKEN_INVALID for a `cnf` of which nothing can be proved
 */
export function claimsRefusal(claims: RegisteredClaims, rules: ClaimRules): AuthError | undefined {
  const { events, cnf } = claims
  if (events !== undefined && isLogout(events)) return tokenRefusal('a logout token')
  const refusal = partiesRefusal(claims, rules)
  if (refusal !== undefined || !isBound(cnf)) return refusal
  const { confirmation = 'refuse' } = rules
  if (confirmation === 'refuse') return tokenRefusal('bound to its sender')
  if (asksForProof(confirmation)) readConfirmation(cnf)
  else if (!isObject(cnf)) return tokenRefusal('cnf is malformed')
  return undefined
}

/** @returns undefined: the rules accept the issuer and the audience */
export function partiesRefusal(
  { iss, aud }: RegisteredClaims,
  { issuer, audience, addresses }: Pick<ClaimRules, 'issuer' | 'audience' | 'addresses'>,
): AuthError | undefined {
  if (issuer && !(typeof iss === 'string' && issuer.includes(iss))) {
    return tokenRefusal('the issuer is not accepted', mismatch('iss', issuer, iss))
  }
  if (addresses) return audienceRefusal(aud, audience, addresses)
  if (audience && !names(aud, audience)) {
    return tokenRefusal('the audience is not accepted', mismatch('aud', audience, aud))
  }
  return undefined
}

/** The member of `events` that makes a logout token (OpenID Connect Back-Channel Logout §2.4). */
export const LOGOUT = 'http://schemas.openid.net/event/backchannel-logout'

/** A token with these `events` logs somebody out. It never lets anybody in. */
function isLogout(events: unknown): boolean {
  return isObject(events) && Object.hasOwn(events, LOGOUT)
}

/** @throws ERR_AUTH_TOKEN_INVALID if one of them is no time */
export function readLifetime({ exp, nbf, iat }: RegisteredClaims): Lifetime {
  return { exp: time('exp', exp), nbf: time('nbf', nbf), iat: time('iat', iat) }
}

/** @throws ERR_AUTH_TOKEN_INVALID for a JWT that does not say when it ends */
export function checkHasEnd({ exp }: Lifetime): void {
  if (exp === undefined) throw tokenRefusal('exp is missing')
}

/**
 * Checked on each use anew. `tolerance` is in seconds. `exp` counts to the millisecond, the start
 * to the whole second: the stricter reading of both.
 *
 * @returns undefined: the token is valid now
 */
export function lifetimeRefusal(
  { exp, nbf, iat }: Lifetime,
  tolerance: number,
): AuthError | undefined {
  const now = Date.now() / 1000
  if (exp !== undefined && now >= exp + tolerance) return tokenRefusal('expired')
  const latestStart = Math.floor(now) + tolerance
  if (nbf !== undefined && nbf > latestStart) return tokenRefusal('not valid yet')
  if (iat !== undefined && iat > latestStart) return tokenRefusal('issued in the future')
  return undefined
}

const TIMES = ['exp', 'nbf', 'iat'] as const

/** JSON has no Infinity, but `1e999` parses to it. */
function time(name: (typeof TIMES)[number], value: unknown): number | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw tokenRefusal(`${name} is not a time`)
  }
  return value
}

/** The member that is no time; undefined: there is none. */
export function problemOfTimes(claims: RegisteredClaims): Unusable | undefined {
  const wrong = TIMES.find((name) => claims[name] !== undefined && !Number.isFinite(claims[name]))
  return wrong && unexpected(wrong, 'a finite number', claims[wrong])
}

/**
 * RFC 7800 §3.1: `cnf` is an object whose members name the key that the sender has to show. One
 * without members names none. Any other value is malformed, and so rather a binding than none.
 */
export function isBound(cnf: unknown): boolean {
  if (cnf === undefined) return false
  return !isObject(cnf) || Object.keys(cnf).length > 0
}

/**
 * RFC 7519 §4.1.3: one string or a list of strings. A list with anything else in it is malformed.
 */
function names(aud: unknown, accepted: readonly string[]): boolean {
  if (typeof aud === 'string') return accepted.includes(aud)
  return audiencesIn(aud).some((item) => accepted.includes(item))
}

/** Empty: it is malformed, or names none. */
function audiencesIn(aud: unknown): readonly string[] {
  const audiences: readonly unknown[] = Array.isArray(aud) ? aud : [aud]
  return audiences.every((item) => typeof item === 'string') ? audiences : []
}

function audienceRefusal(
  aud: unknown,
  audience: readonly string[] = [],
  addresses: TenantsByAddress,
): AuthError | undefined {
  const isOne = (item: string) => audience.includes(item) || addresses.tenantOf(item) !== undefined
  if (audiencesIn(aud).some(isOne)) return undefined
  const expected = [...audience, addresses.pattern]
  return tokenRefusal('the audience is not accepted', mismatch('aud', expected, aud))
}

/** The tenants in which an accepted token counts. */
export function readAddressed(
  { aud }: RegisteredClaims,
  addresses: TenantsByAddress,
  audience: readonly string[] = [],
): AddressedTenants {
  const tenants = audiencesIn(aud).flatMap((item) => addresses.tenantOf(item) ?? [])
  return new AddressedTenants(new Set(tenants), names(aud, audience), addresses)
}

/** The names in a token: claims of its own, if they are strings. Others get copies. */
export interface TokenNames {
  /** `iss` (RFC 7519 §4.1.1). */
  readonly issuer: string | null
  /** `sub` (RFC 7519 §4.1.2). */
  readonly sub: string | null
  /** `jti` (RFC 7519 §4.1.7). */
  readonly jti: string | null
  /** `sid`, the session at the authorization server (OpenID Connect Front-Channel Logout §3). */
  readonly sid: string | null
}

export function readTokenNames({ iss, sub, jti, sid }: RegisteredClaims): TokenNames {
  return { issuer: text(iss), sub: text(sub), jti: text(jti), sid: text(sid) }
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The kind and the time of the user's login, by the token's own word. Immutable. */
export interface Login {
  /** `acr`; null: none, or no string. */
  readonly acr: string | null
  /** `auth_time` in seconds since the epoch; null: none, or no finite number. */
  readonly authTime: number | null
  /** Seconds by which its issuer's clock may differ. */
  readonly tolerance: number
}

/** The login of all tokens that say nothing of it. */
export const NO_LOGIN: Login = Object.freeze({ acr: null, authTime: null, tolerance: 0 })

/** A token is not refused for a login that cannot be read. It is as one that says nothing of it. */
export function readLogin({ acr, auth_time: time }: RegisteredClaims, tolerance: number): Login {
  if (acr === undefined && time === undefined) return NO_LOGIN
  const authTime = typeof time === 'number' && Number.isFinite(time) ? time : null
  return Object.freeze({ acr: text(acr), authTime, tolerance })
}

/** Somebody who acts for the user, such as a support agent or another service. Immutable. */
export interface Actor {
  /** The actor's identifier at its issuer. Never empty. */
  readonly sub: string
  /** The actor's own issuer; null if the token names none. */
  readonly issuer: string | null
}

/** Most actors of one token. */
const MOST_ACTORS = 8

export const NO_ACTORS: readonly Actor[] = Object.freeze([])

/**
 * The chain of `act` of a token (RFC 8693 §4.1), the outermost first: that one acts now. Those
 * before it, which are nested in it, are for information only. Empty: the user acts itself.
 *
 * @throws ERR_AUTH_TOKEN_INVALID if one names no actor, or there are more than eight
 */
export function readActors({ act }: RegisteredClaims): readonly Actor[] {
  if (act === undefined) return NO_ACTORS
  const actors: Actor[] = []
  for (let next: unknown = act; next !== undefined; ) {
    const [sub, iss] = [ownMember(next, 'sub'), ownMember(next, 'iss')]
    if (!isName(sub) || (iss !== undefined && !isName(iss)) || actors.length === MOST_ACTORS) {
      throw tokenRefusal('act is malformed')
    }
    actors.push(Object.freeze({ sub, issuer: iss ?? null }))
    next = ownMember(next, 'act')
  }
  return Object.freeze(actors)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
