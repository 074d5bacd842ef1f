import { flatString } from '../../platform/runtime/flat-string.ts'
import { isTooComplex } from '../../platform/runtime/json-complexity.ts'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import { decodeBase64url, parseObject, utf8Text } from './decode.ts'
import { mismatch, refuseToken } from './refuse-token.ts'

/** The parameters of a token's header (RFC 7515 §4) that name its key and type. Immutable. */
export interface JoseHeader {
  readonly alg: string
  readonly kid: string | undefined
  readonly typ: string | undefined
}

export interface HeaderRules {
  readonly algorithms: ReadonlySet<string>
  /** Accepted `typ` values, normalized; `undefined` among them: the header may be absent. */
  readonly tokenTypes: ReadonlySet<string | undefined>
}

/** Longest header, in characters. It is read before anything is proven. */
export const MAX_HEADER_LENGTH = 2048

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

  /**
   * The header that a token's first part holds.
   *
   * @throws ERR_AUTH_TOKEN_INVALID where it is none
   */
  read(part: string): JoseHeader {
    if (part.length > MAX_HEADER_LENGTH) throw refuseToken('the header is too long')
    const known = this.#read.get(part)
    if (known) return known
    const text = utf8Text(decodeBase64url(part))
    if (isTooComplex(text)) throw refuseToken('the header is crowded')
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
  // RFC 7515 §4.1.11: an extension that is not understood must be refused; none is understood here.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) {
    throw refuseToken('header extensions are not supported')
  }
  const alg = text(header, 'alg')
  if (alg === undefined) throw refuseToken('the alg is missing')
  return Object.freeze({ alg, kid: text(header, 'kid'), typ: text(header, 'typ') })
}

function text(header: object, name: 'alg' | 'kid' | 'typ'): string | undefined {
  const value = ownProperty(header, name)
  if (value === undefined || typeof value === 'string') return value
  throw refuseToken(`the ${name} is not a string`)
}

/** Accepted `typ` values, normalized: the given ones, or those of an access token, or none. */
export function acceptedTypes(given: readonly string[] | undefined): (string | undefined)[] {
  return given?.map(normalizeTokenType) ?? ACCESS_TOKEN_TYPES
}

/** @throws ERR_AUTH_TOKEN_INVALID where the rules do not allow the header */
export function checkHeader({ alg, typ }: JoseHeader, rules: HeaderRules): void {
  if (!rules.algorithms.has(alg)) {
    throw refuseToken('the algorithm is not allowed', mismatch('alg', rules.algorithms, alg))
  }
  if (!rules.tokenTypes.has(typ === undefined ? typ : normalizeTokenType(typ))) {
    throw refuseToken('the token type is not allowed', mismatch('typ', rules.tokenTypes, typ))
  }
}

const ASCII = /^[\0-\x7f]*$/

/** RFC 7515 §4.1.9: media types without regard to case, and `application/` goes without saying. */
export function normalizeTokenType(type: string): string {
  // Of ASCII only: in Unicode other letters become these too.
  const lower = ASCII.test(type) ? type.toLowerCase() : type
  return lower.includes('/') ? lower : `application/${lower}`
}

const ACCESS_TOKEN_TYPES = [normalizeTokenType('JWT'), normalizeTokenType('at+jwt'), undefined]

/**
 * Whether a token is a JWT, good or bad: three parts, the first of which decodes to an object with
 * `alg` (RFC 7515 §4.1.1). It reads more spellings than we accept, and takes a header for one that
 * is too long to be read: a bad JWT is refused, and never asked for as another kind of token.
 */
export function isJwt(token: string): boolean {
  const parts = token.split('.', 4)
  const [header = ''] = parts
  if (parts.length !== 3) return false
  return header.length > MAX_HEADER_LENGTH || namesAlgorithm(Buffer.from(header, 'base64url'))
}

function namesAlgorithm(bytes: Buffer): boolean {
  try {
    // This decoder skips a byte order mark.
    const header: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return isObject(header) && Object.hasOwn(header, 'alg')
  } catch {
    return false
  }
}
