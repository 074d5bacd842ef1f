import type { JoseHeader, JoseHeaders } from './jose-header.ts'
import { TokenRefused } from './token-refused.ts'

/** A token in JWS compact serialization (RFC 7515 §3.1), taken apart and not yet believed. */
export interface CompactJws {
  readonly header: JoseHeader
  /** What was signed: header and payload as they stand in the token (RFC 7515 §5.2). */
  readonly signingInput: string
  readonly payload: string
  readonly signature: string
}

const THREE_PARTS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/

/** Last letters whose unused bits are zero, after 2 and after 3 letters of a group of four (RFC 4648 §3.5). */
const LAST_OF_TWO = 'AQgw'
const LAST_OF_THREE = 'AEIMQUYcgkosw048'

/**
 * The gate before any cryptography: one spelling for each token, and a header that the rules allow.
 * Encodings that a lenient reader would accept too (padding, white space, set pad bits) are refused, so
 * that a token has no second spelling that a cache or a deny list would not know.
 *
 * @throws TokenRefused
 */
export function parseCompactJws(
  token: string,
  maxLength: number,
  headers: JoseHeaders,
): CompactJws {
  if (token.length > maxLength) throw new TokenRefused('longer than maxTokenLength')
  if (!THREE_PARTS.test(token)) throw new TokenRefused('not three parts of base64url')
  const [first, last] = [token.indexOf('.'), token.lastIndexOf('.')]
  const header = token.slice(0, first)
  const payload = token.slice(first + 1, last)
  const signature = token.slice(last + 1)
  if (!isCanonical(header) || !isCanonical(payload) || !isCanonical(signature)) {
    throw new TokenRefused('not canonical base64url')
  }
  return {
    header: headers.read(header),
    signingInput: token.slice(0, last),
    payload,
    signature,
  }
}

function isCanonical(part: string): boolean {
  const last = part.slice(-1)
  switch (part.length % 4) {
    case 0:
      return true
    case 2:
      return LAST_OF_TWO.includes(last)
    case 3:
      return LAST_OF_THREE.includes(last)
    default:
      return false
  }
}
