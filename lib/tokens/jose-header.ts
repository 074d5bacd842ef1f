import { ownProperty } from '../outside/own-property.ts'
import { ownText } from '../outside/own-text.ts'
import { decodeBase64url } from './decode-base64url.ts'
import { mismatch } from './mismatch.ts'
import { parseObject } from './parse-object.ts'
import { TokenRefused } from './token-refused.ts'

/** What a token's header (RFC 7515 §4) says of its key. Immutable. */
export interface JoseHeader {
  readonly alg: string
  readonly kid: string | undefined
}

export interface HeaderRules {
  readonly algorithms: ReadonlySet<string>
  /** Accepted `typ` values, normalized; `undefined` among them: the header may be absent. */
  readonly tokenTypes: ReadonlySet<string | undefined>
}

/** Longest header, in characters. It is read before anything is proven. */
const MAX_LENGTH = 2048

/**
 * More lists, objects and members than a header has. Reading 1 400 nested lists costs two forged
 * signatures.
 */
const CROWDED = /^(?:[^,[{]*[,[{]){65}/

/** Most headers that are kept, and the longest, in characters. */
const MAX_KEPT = 100
const MAX_KEPT_LENGTH = 512

/**
 * Reads the headers of tokens. An authorization server signs with very few, and so the accepted
 * ones are kept by their text. Whoever sends many others makes nobody wait for more than reading
 * one anew.
 */
export class JoseHeaders {
  readonly #rules: HeaderRules
  readonly #accepted = new Map<string, JoseHeader>()

  constructor(rules: HeaderRules) {
    this.#rules = rules
  }

  /**
   * The header that a token's first part holds.
   *
   * @throws TokenRefused where the rules do not allow it
   */
  read(part: string): JoseHeader {
    if (part.length > MAX_LENGTH) throw new TokenRefused('the header is too long')
    const known = this.#accepted.get(part)
    if (known) return known
    const bytes = decodeBase64url(part)
    if (CROWDED.test(bytes.toString('latin1'))) throw new TokenRefused('the header is crowded')
    const header = checkHeader(parseObject(bytes), this.#rules)
    if (part.length <= MAX_KEPT_LENGTH) this.#keep(part, header)
    return header
  }

  #keep(part: string, header: JoseHeader): void {
    if (this.#accepted.size >= MAX_KEPT) this.#accepted.clear()
    this.#accepted.set(ownText(part), header)
  }
}

const ASCII = /^[\0-\x7f]*$/

/** RFC 7515 §4.1.9: media types without regard to case, and `application/` goes without saying. */
export function normalizeTokenType(type: string): string {
  // Of ASCII only: in Unicode other letters become these too.
  const lower = ASCII.test(type) ? type.toLowerCase() : type
  return lower.includes('/') ? lower : `application/${lower}`
}

function checkHeader(header: object, rules: HeaderRules): JoseHeader {
  // RFC 7515 §4.1.11: an extension that is not understood must be refused; none is understood here.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) {
    throw new TokenRefused('header extensions are not supported')
  }
  const alg = ownProperty(header, 'alg')
  if (typeof alg !== 'string' || !rules.algorithms.has(alg)) {
    throw new TokenRefused('the algorithm is not allowed', mismatch('alg', rules.algorithms, alg))
  }
  const typ = ownProperty(header, 'typ')
  const type = typeof typ === 'string' ? normalizeTokenType(typ) : typ
  if ((type !== undefined && typeof type !== 'string') || !rules.tokenTypes.has(type)) {
    throw new TokenRefused('the token type is not allowed', mismatch('typ', rules.tokenTypes, typ))
  }
  const kid = ownProperty(header, 'kid')
  if (kid !== undefined && typeof kid !== 'string')
    throw new TokenRefused('the kid is not a string')
  return Object.freeze({ alg, kid })
}
