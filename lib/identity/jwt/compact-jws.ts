import { isTooComplex } from '../../platform/runtime/json-complexity.ts'
import { ownProperty } from '../../platform/runtime/own-property.ts'
import { decodeBase64url, parseObject, utf8Text } from './decode.ts'
import type { JoseHeader, JoseHeaders } from './jose-header.ts'
import { refuseToken } from './refuse-token.ts'
import { scanClaim } from './scan-claim.ts'

/** A token in JWS compact serialization (RFC 7515 §3.1), taken apart and not yet believed. */
export interface CompactJws {
  readonly header: JoseHeader
  /** The signed text: header and payload as they stand in the token (RFC 7515 §5.2). */
  readonly signingInput: string
  readonly payload: UnverifiedPayload
  /** Empty: there is none. */
  readonly signature: Buffer
}

const NONE = Buffer.alloc(0)

/**
 * The gate before any cryptography: three parts, each in its only spelling.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function parseCompactJws(
  token: string,
  maxLength: number,
  headers: JoseHeaders,
): CompactJws {
  if (token.length > maxLength) throw refuseToken('longer than maxTokenLength')
  const first = token.indexOf('.')
  const last = token.lastIndexOf('.')
  if (first === last) throw refuseToken('not three parts')
  const header = headers.read(token.slice(0, first))
  // A further dot would be a letter of this part, and none of its alphabet.
  const payload = decodeBase64url(token.slice(first + 1, last))
  // Of `alg: none` (RFC 7515 §6), which the rules refuse by that name.
  const signature = last + 1 === token.length ? NONE : decodeBase64url(token.slice(last + 1))
  const signingInput = token.slice(0, last)
  return { header, signingInput, payload: new UnverifiedPayload(payload), signature }
}

/** Most bytes that are parsed before the signature: they cost a part of what it costs. */
const MAX_BYTES = 4096

/**
 * The claims of a token before its signature is verified. They may refuse the token, and choose an
 * issuer out of those known. They are used for nothing else.
 */
export class UnverifiedPayload {
  readonly #bytes: Buffer
  readonly #isCheap: boolean
  /** Nobody has changed them; undefined: they have to be parsed. */
  #parsed: Record<string, unknown> | undefined

  /** @throws ERR_AUTH_TOKEN_INVALID where it was cheap to find out that it is no JSON object */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
    const text = bytes.length > MAX_BYTES ? undefined : utf8Text(bytes)
    this.#isCheap = text !== undefined && !isTooComplex(text)
    if (text !== undefined && this.#isCheap) this.#parsed = parseObject(text)
  }

  /** Only to be read. Undefined where parsing may cost more than verifying the signature. */
  get claims(): Readonly<Record<string, unknown>> | undefined {
    if (this.#isCheap) this.#parsed ??= this.#parse()
    return this.#parsed
  }

  /** Who says to have issued the token (RFC 7519 §4.1.1); undefined: no string. */
  get iss(): string | undefined {
    const { claims } = this
    if (claims === undefined) return scanClaim(this.#bytes, 'iss')
    const iss = ownProperty(claims, 'iss')
    return typeof iss === 'string' ? iss : undefined
  }

  /**
   * All claims, once the signature is verified. They are the caller's own: an application's
   * function may change them, and a token may be proved more than once.
   *
   * @throws ERR_AUTH_TOKEN_INVALID
   */
  read(): Record<string, unknown> {
    const claims = this.#parsed ?? this.#parse()
    this.#parsed = undefined
    return claims
  }

  #parse(): Record<string, unknown> {
    return parseObject(utf8Text(this.#bytes))
  }
}
