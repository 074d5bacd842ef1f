import { isCrowded } from '../outside/crowded.ts'
import { ownProperty } from '../outside/own-property.ts'
import { parseObject } from './parse-object.ts'
import { topLevelText } from './top-level-text.ts'
import { utf8Text } from './utf8-text.ts'

/** Most bytes that are parsed before the signature: they cost a part of what it costs. */
const MAX_BYTES = 4096

/**
 * What a token says before its signature is verified. It may refuse the token, and choose an issuer
 * out of those known. It is used for nothing else.
 */
export class UnverifiedPayload {
  readonly #bytes: Buffer
  readonly #isCheap: boolean
  /** Nobody has changed them; undefined: they have to be parsed. */
  #parsed: Record<string, unknown> | undefined

  /** @throws TokenRefused where it was cheap to find out that it is no JSON object */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
    const text = bytes.length > MAX_BYTES ? undefined : utf8Text(bytes)
    this.#isCheap = text !== undefined && !isCrowded(text)
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
    if (claims === undefined) return topLevelText(this.#bytes, 'iss')
    const iss = ownProperty(claims, 'iss')
    return typeof iss === 'string' ? iss : undefined
  }

  /**
   * All claims, once the signature is verified. They are the caller's own: an application's
   * function may change them, and a token may be proved more than once.
   *
   * @throws TokenRefused
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
