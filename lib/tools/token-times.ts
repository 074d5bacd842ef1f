/**
 * What a test token says, apart from who the user is. Given as `undefined`, a claim or header is
 * left out.
 */
export interface TestTokenOptions {
  /** Seconds from now until `exp`; negative: expired. @default 300 */
  readonly expiresIn?: number | undefined
  /** Seconds from now until `nbf`. Not given: no `nbf`. */
  readonly notBefore?: number | undefined
  /** Seconds from now of `iat`. @default 0 */
  readonly issuedAt?: number | undefined
  /** @default the authority's */
  readonly issuer?: string | undefined
  /** @default the authority's */
  readonly audience?: string | readonly string[] | undefined
  /** Protected header parameters, over `alg`, `kid` and `typ: at+jwt`. */
  readonly header?: Readonly<Record<string, unknown>> | undefined
}

/** The times that a test token names, in seconds since the epoch (RFC 7519 §4.1.4 to §4.1.6). */
export function timesOf(options: TestTokenOptions): { exp?: number; nbf?: number; iat?: number } {
  const now = Math.floor(Date.now() / 1000)
  const expiresIn = 'expiresIn' in options ? options.expiresIn : 300
  const issuedAt = 'issuedAt' in options ? options.issuedAt : 0
  return {
    ...(expiresIn !== undefined && { exp: now + expiresIn }),
    ...(options.notBefore !== undefined && { nbf: now + options.notBefore }),
    ...(issuedAt !== undefined && { iat: now + issuedAt }),
  }
}
