import { decodeBase64url } from './decode-base64url.ts'
import { ownProperty } from './own-property.ts'
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

/** Most headers that are kept, and the longest, in characters. */
const MAX_KEPT = 100
const MAX_KEPT_LENGTH = 512

/**
 * Reads the headers of tokens. An authorization server signs with very few, and so the accepted ones are kept by
 * their text. Whoever sends many others makes nobody wait for more than reading one anew.
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
    const known = this.#accepted.get(part)
    if (known) return known
    const header = checkHeader(parseObject(decodeBase64url(part)), this.#rules)
    if (part.length <= MAX_KEPT_LENGTH) this.#keep(part, header)
    return header
  }

  #keep(part: string, header: JoseHeader): void {
    if (this.#accepted.size >= MAX_KEPT) this.#accepted.clear()
    // A copy: a part of a string holds the whole string.
    this.#accepted.set(Buffer.from(part, 'latin1').toString('latin1'), header)
  }
}

/** RFC 7515 §4.1.9: media types without regard to case, and `application/` goes without saying. */
export function normalizeTokenType(type: string): string {
  // Of ASCII only: in Unicode other letters become these too.
  const lower = type.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
  return lower.includes('/') ? lower : `application/${lower}`
}

function checkHeader(header: object, rules: HeaderRules): JoseHeader {
  // RFC 7515 §4.1.11: an extension that is not understood must be refused; none is understood here.
  if (Object.hasOwn(header, 'crit') || Object.hasOwn(header, 'b64')) {
    throw new TokenRefused('header extensions are not supported')
  }
  const alg = ownProperty(header, 'alg')
  if (typeof alg !== 'string' || !rules.algorithms.has(alg)) {
    const mismatch = { of: 'alg', expected: rules.algorithms, found: alg } as const
    throw new TokenRefused('the algorithm is not allowed', mismatch)
  }
  const typ = ownProperty(header, 'typ')
  const type = typeof typ === 'string' ? normalizeTokenType(typ) : typ
  if ((type !== undefined && typeof type !== 'string') || !rules.tokenTypes.has(type)) {
    const mismatch = { of: 'typ', expected: rules.tokenTypes, found: typ } as const
    throw new TokenRefused('the token type is not allowed', mismatch)
  }
  const kid = ownProperty(header, 'kid')
  if (kid !== undefined && typeof kid !== 'string')
    throw new TokenRefused('the kid is not a string')
  return Object.freeze({ alg, kid })
}
