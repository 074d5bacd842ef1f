import { decodeBase64url } from './decode-base64url.ts'
import type { JoseHeader, JoseHeaders } from './jose-header.ts'
import { TokenRefused } from './token-refused.ts'
import { UnverifiedPayload } from './unverified-payload.ts'

/** A token in JWS compact serialization (RFC 7515 §3.1), taken apart and not yet believed. */
export interface CompactJws {
  readonly header: JoseHeader
  /** What was signed: header and payload as they stand in the token (RFC 7515 §5.2). */
  readonly signingInput: string
  readonly payload: UnverifiedPayload
  /** Empty: there is none. */
  readonly signature: Buffer
}

const NONE = Buffer.alloc(0)

/**
 * The gate before any cryptography: three parts, each in its only spelling.
 *
 * @throws TokenRefused
 */
export function parseCompactJws(
  token: string,
  maxLength: number,
  headers: JoseHeaders,
): CompactJws {
  if (token.length > maxLength) throw new TokenRefused('longer than maxTokenLength')
  const first = token.indexOf('.')
  const last = token.lastIndexOf('.')
  if (first === last) throw new TokenRefused('not three parts')
  const header = headers.read(token.slice(0, first))
  // A further dot would be a letter of this part, and none of its alphabet.
  const payload = decodeBase64url(token.slice(first + 1, last))
  // Of `alg: none` (RFC 7515 §6), which the rules refuse by that name.
  const signature = last + 1 === token.length ? NONE : decodeBase64url(token.slice(last + 1))
  const signingInput = token.slice(0, last)
  return { header, signingInput, payload: new UnverifiedPayload(payload), signature }
}
