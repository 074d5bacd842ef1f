import type { Lifetime, TokenNames } from './registered-claims.ts'

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

export function isOfOpaqueToken(token: TokenInfo): boolean {
  return opaque.has(token)
}

/** A deny list refuses it since no entry would last as long. */
export function noteOutlives(token: TokenInfo): void {
  outliving.add(token)
}

export function outlivesDenyList(token: TokenInfo): boolean {
  return outliving.has(token)
}

/** The last moment of a Date, in milliseconds since the epoch; the first is as far before it. */
const END_OF_TIME = 8.64e15

/**
 * A new Date of a NumericDate (RFC 7519 §2), in seconds since the epoch; the nearest one if no
 * Date can hold it.
 */
export function dateOf(seconds: number): Date {
  return new Date(Math.max(-END_OF_TIME, Math.min(seconds * 1000, END_OF_TIME)))
}
