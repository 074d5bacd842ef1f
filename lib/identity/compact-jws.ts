import { isUtf8 } from 'node:buffer'
import { ownProperty } from './own-property.ts'
import { TokenRefused } from './token-refused.ts'

/** A token in JWS compact serialization (RFC 7515 §3.1), taken apart and not yet believed. */
export interface CompactJws {
  readonly header: JoseHeader
  /** What was signed: header and payload as they stand in the token (RFC 7515 §5.2). */
  readonly signingInput: string
  readonly payload: string
  readonly signature: string
}

export interface JoseHeader {
  readonly alg: string
  readonly kid: string | undefined
}

export interface HeaderRules {
  readonly algorithms: ReadonlySet<string>
  /** Accepted `typ` values, normalized; `undefined` among them: the header may be absent. */
  readonly tokenTypes: ReadonlySet<string | undefined>
}

const THREE_PARTS = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)$/

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
export function parseCompactJws(token: string, maxLength: number, rules: HeaderRules): CompactJws {
  if (token.length > maxLength) throw new TokenRefused('longer than maxTokenLength')
  const parts = THREE_PARTS.exec(token)
  const [, header, payload, signature] = parts ?? []
  if (header === undefined || payload === undefined || signature === undefined) {
    throw new TokenRefused('not three parts of base64url')
  }
  if (!isCanonical(header) || !isCanonical(payload) || !isCanonical(signature)) {
    throw new TokenRefused('not canonical base64url')
  }
  return {
    header: checkHeader(decodeObject(header), rules),
    signingInput: token.slice(0, header.length + 1 + payload.length),
    payload,
    signature,
  }
}

/**
 * A part's bytes as a JSON object: UTF-8 without a byte order mark, no array, no null.
 *
 * @throws TokenRefused
 */
export function decodeObject(part: string): Record<string, unknown> {
  const bytes = Buffer.from(part, 'base64url')
  if (!isUtf8(bytes)) throw new TokenRefused('a part is not UTF-8')
  let value: unknown
  try {
    // Which keeps a byte order mark, and JSON has none.
    value = JSON.parse(bytes.toString())
  } catch {
    throw new TokenRefused('a part is not JSON')
  }
  if (!isObject(value)) throw new TokenRefused('a part is not a JSON object')
  return value
}

/** RFC 7515 §4.1.9: media types without regard to case, and `application/` goes without saying. */
export function normalizeTokenType(type: string): string {
  // Of ASCII only: in Unicode other letters become these too.
  const lower = type.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  return lower.includes('/') ? lower : `application/${lower}`
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

function checkHeader(header: object, rules: HeaderRules): JoseHeader {
  // RFC 7515 §4.1.11: an extension that is not understood must be refused; none is understood here.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) {
    throw new TokenRefused('header extensions are not supported')
  }
  const alg = ownProperty(header, 'alg')
  if (typeof alg !== 'string' || !rules.algorithms.has(alg)) {
    throw new TokenRefused('the algorithm is not allowed')
  }
  const typ = ownProperty(header, 'typ')
  const type = typeof typ === 'string' ? normalizeTokenType(typ) : typ
  if ((type !== undefined && typeof type !== 'string') || !rules.tokenTypes.has(type)) {
    throw new TokenRefused('the token type is not allowed')
  }
  const kid = ownProperty(header, 'kid')
  if (kid !== undefined && typeof kid !== 'string')
    throw new TokenRefused('the kid is not a string')
  return { alg, kid }
}
