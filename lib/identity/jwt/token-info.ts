import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import { refuseToken } from './refuse-token.ts'
import type { Lifetime } from './registered-claims.ts'

/** The names in a token: claims of its own, if they are strings. Immutable. */
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

/**
 * The token's own claims, whatever `mapClaims` made of them; null if it has none of that name.
 * Immutable but for the dates, which are the reader's own.
 */
export interface TokenInfo extends TokenNames {
  /** `iat` (RFC 7519 §4.1.6). */
  readonly issuedAt: Date | null
  /** `exp` (RFC 7519 §4.1.4). */
  readonly expiresAt: Date | null
}

export function readTokenNames(claims: object): TokenNames {
  return Object.freeze({
    issuer: text(claims, 'iss'),
    sub: text(claims, 'sub'),
    jti: text(claims, 'jti'),
    sid: text(claims, 'sid'),
  })
}

/**
 * Made anew for each reader: a Date can be changed.
 *
 * @param isOpaque whether its source is asked for it again and again
 */
export function tokenInfo(names: TokenNames, { iat, exp }: Lifetime, isOpaque = false): TokenInfo {
  const info = Object.freeze({
    ...names,
    issuedAt: iat === undefined ? null : dateOf(iat),
    expiresAt: exp === undefined ? null : dateOf(exp),
  })
  if (isOpaque) opaque.add(info)
  return info
}

// Facts about a token beside its claims, wherever an application hands it on.
const opaque = new WeakSet<TokenInfo>()
const outliving = new WeakSet<TokenInfo>()

/** Whether it is no JWT. */
export function isOpaque(token: TokenInfo): boolean {
  return opaque.has(token)
}

/** A deny list refuses it since no entry would last as long. */
export function noteOutlives(token: TokenInfo): void {
  outliving.add(token)
}

export function outlivesDenyList(token: TokenInfo): boolean {
  return outliving.has(token)
}

function text(claims: object, name: string): string | null {
  const value = ownProperty(claims, name)
  return typeof value === 'string' ? value : null
}

/**
 * The last moment of a Date, in milliseconds since the epoch; the first is as far before
 * it.
 */
const END_OF_TIME = 8.64e15

/**
 * A new Date of a NumericDate (RFC 7519 §2), in seconds since the epoch; the nearest one where no
 * Date can hold it.
 */
export function dateOf(seconds: number): Date {
  return new Date(Math.max(-END_OF_TIME, Math.min(seconds * 1000, END_OF_TIME)))
}

/** Who acts for the user, such as a support agent or another service. Immutable. */
export interface Actor {
  /** The actor's identifier at its issuer. Never empty. */
  readonly sub: string
  /** The actor's own issuer; null where the token names none. */
  readonly issuer: string | null
}

/**
 * The outermost `act` of a token (RFC 8693 §4.1); null: it has none, and the user acts itself. The
 * actors before it, which are nested in it, are for information only.
 *
 * @throws ERR_AUTH_TOKEN_INVALID where it names no actor
 */
export function readActor(claims: object): Actor | null {
  const act = ownProperty(claims, 'act')
  if (act === undefined) return null
  const { sub, iss } = isObject(act) ? namesIn(act) : NO_NAMES
  if (!isName(sub) || (iss !== undefined && !isName(iss))) {
    throw refuseToken('act is malformed')
  }
  return Object.freeze({ sub, issuer: iss ?? null })
}

const NO_NAMES = { sub: undefined, iss: undefined }

function namesIn(act: object): { readonly sub: unknown; readonly iss: unknown } {
  return { sub: ownProperty(act, 'sub'), iss: ownProperty(act, 'iss') }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
