import { isUtf8 } from 'node:buffer'
import { flatString } from '../../platform/runtime/flat-string.ts'
import {
  bytesOfJson,
  countMarks,
  isTooComplex,
  MOST_MARKS,
} from '../../platform/runtime/json-complexity.ts'
import { isObject, ownMember, ownProperty } from '../../platform/runtime/own-property.ts'
import { type RegisteredClaims, registeredClaims } from './registered-claims.ts'
import { scanClaim } from './scan-claim.ts'
import { tokenRefusal } from './token-refusal.ts'

/** The parameters of a token's header (RFC 7515 §4) that name its key and type. Immutable. */
export interface JoseHeader {
  readonly alg: string
  readonly kid: string | undefined
  readonly typ: string | undefined
  /** `typ` in its one spelling. */
  readonly type: string | undefined
}

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
  if (token.length > maxLength) throw tokenRefusal('longer than maxTokenLength')
  const first = token.indexOf('.')
  const last = token.lastIndexOf('.')
  if (first === last || token.indexOf('.', first + 1) !== last) {
    throw tokenRefusal('not three parts')
  }
  const header = headers.read(token.slice(0, first))
  const payload = decodeBase64url(token.slice(first + 1, last))
  // An empty signature is that of `alg: none` (RFC 7515 §6), which the rules refuse by that name.
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
  /** True: it costs little to read, and so is not nested deeply either. */
  readonly isCheap: boolean
  /** Nobody has changed them; undefined: they have to be parsed. */
  #parsed: Record<string, unknown> | undefined
  #registered: RegisteredClaims | undefined
  #size = 0

  /** @throws ERR_AUTH_TOKEN_INVALID if it was cheap to find out that it is no JSON object */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
    const text = bytes.length > MAX_BYTES ? undefined : utf8Text(bytes)
    const marks = text === undefined ? Number.POSITIVE_INFINITY : countMarks(text, MOST_MARKS)
    this.isCheap = marks <= MOST_MARKS
    if (text === undefined || !this.isCheap) return
    this.#parsed = parseObject(text)
    this.#size = bytesOfJson(text, marks)
  }

  /** Only to be read. Undefined if parsing may cost more than verifying the signature. */
  get claims(): RegisteredClaims | undefined {
    if (!this.isCheap) return undefined
    this.#registered ??= registeredClaims(this.#parsed ?? this.#parse())
    return this.#registered
  }

  /** Bytes of the claims in memory, once they are read: an estimate, rather too high. */
  get size(): number {
    return this.#size
  }

  /** The issuer that it names, unverified (RFC 7519 §4.1.1); undefined: no string. */
  get iss(): string | undefined {
    const { claims } = this
    const iss = claims === undefined ? scanClaim(this.#bytes, 'iss') : claims.iss
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
    this.#registered = undefined
    return claims
  }

  #parse(): Record<string, unknown> {
    const text = utf8Text(this.#bytes)
    this.#size = bytesOfJson(text)
    return parseObject(text)
  }
}

/** Longest header, in characters. It is read before anything is proven. */
const MAX_HEADER_LENGTH = 2048

/** Most headers that are kept, and the longest, in characters. */
const MAX_KEPT = 100
const MAX_KEPT_LENGTH = 512

/**
 * Reads the headers of tokens. Authorization servers sign with very few, and so they are kept by
 * their text. A stranger who sends many others makes a request wait for no more than reading one
 * anew.
 */
export class JoseHeaders {
  readonly #read = new Map<string, JoseHeader>()

  /** @throws ERR_AUTH_TOKEN_INVALID if the first part of a token holds no header */
  read(part: string): JoseHeader {
    if (part.length > MAX_HEADER_LENGTH) throw tokenRefusal('the header is too long')
    const known = this.#read.get(part)
    if (known) return known
    const text = utf8Text(decodeBase64url(part))
    if (isTooComplex(text)) throw tokenRefusal('the header has too many members')
    const header = readHeader(parseObject(text))
    if (part.length <= MAX_KEPT_LENGTH) this.#keep(part, header)
    return header
  }

  #keep(part: string, header: JoseHeader): void {
    if (this.#read.size >= MAX_KEPT) this.#read.clear()
    this.#read.set(flatString(part), header)
  }
}

function readHeader(header: object): JoseHeader {
  // RFC 7515 §4.1.11: an extension that is not understood must be refused. None is understood.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) {
    throw tokenRefusal('header extensions are not supported')
  }
  const alg = text(header, 'alg')
  if (alg === undefined) throw tokenRefusal('the alg is missing')
  const typ = text(header, 'typ')
  const type = typ === undefined ? undefined : normalizeTokenType(typ)
  return Object.freeze({ alg, kid: text(header, 'kid'), typ, type })
}

const ASCII = /^[\0-\x7f]*$/

/** RFC 7515 §4.1.9: media types without regard to case, and `application/` goes without saying. */
export function normalizeTokenType(type: string): string {
  // ASCII only: in Unicode other letters become these too.
  const lower = ASCII.test(type) ? type.toLowerCase() : type
  return lower.includes('/') ? lower : `application/${lower}`
}

function text(header: object, name: 'alg' | 'kid' | 'typ'): string | undefined {
  const value = ownProperty(header, name)
  if (value === undefined || typeof value === 'string') return value
  throw tokenRefusal(`the ${name} is not a string`)
}

/**
 * True: a token is a JWT, good or bad, with three parts, the first of which decodes to an object
 * with `alg` (RFC 7515 §4.1.1). More spellings count than we accept, and a first part that is too
 * long to be read: a bad JWT is refused, and never asked for as another kind of token.
 */
export function isJwt(token: string): boolean {
  return namedAlgorithm(token) !== undefined
}

/** RFC 7518 §3.2. Whoever verifies it can sign, so that no published key belongs to it. */
export function isSymmetric(algorithm: unknown): boolean {
  return algorithm === 'HS256' || algorithm === 'HS384' || algorithm === 'HS512'
}

/**
 * True: no published key can verify a token. It is no JWT, or it is signed with a secret, which
 * only those verify who share it.
 */
export function isOpaque(token: string): boolean {
  const algorithm = namedAlgorithm(token)
  return algorithm === undefined || isSymmetric(algorithm)
}

/** The `alg` of any type; null: the header is too long. Undefined: the token is no JWT. */
function namedAlgorithm(token: string): unknown {
  const parts = token.split('.', 4)
  const [part = ''] = parts
  if (parts.length !== 3) return undefined
  if (part.length > MAX_HEADER_LENGTH) return null
  try {
    // This decoder skips a byte order mark.
    return ownMember(JSON.parse(new TextDecoder().decode(Buffer.from(part, 'base64url'))), 'alg')
  } catch {
    return undefined
  }
}

/**
 * The bytes of one part of a token, in the one spelling that encoding them gives (RFC 7515 §2, RFC
 * 4648 §3.5). Node reads other letters, padding, white space and set pad bits too; such a second
 * spelling of a token would be one that a cache or a deny list does not know.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function decodeBase64url(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url')
  if (part === '' || bytes.toString('base64url') !== part) {
    throw tokenRefusal('a part is not base64url')
  }
  return bytes
}

/**
 * The text of a token's part, which is UTF-8 (RFC 7515 §2) without a fault: Node would read others
 * with letters in place of the faults. It keeps a byte order mark.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw tokenRefusal('a part is not UTF-8')
  return bytes.toString()
}

/**
 * The text of a token's part as a JSON object: no byte order mark before it, no array, no null.
 *
 * @throws ERR_AUTH_TOKEN_INVALID
 */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw tokenRefusal('a part is not JSON')
  }
  if (!isObject(value)) throw tokenRefusal('a part is not a JSON object')
  return value
}
