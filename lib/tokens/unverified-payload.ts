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
  /** Undefined where parsing may cost more than verifying the signature. */
  readonly claims: Record<string, unknown> | undefined
  readonly #bytes: Buffer

  /** @throws TokenRefused where it was cheap to find out that it is no JSON object */
  constructor(bytes: Buffer) {
    this.#bytes = bytes
    const text = bytes.length > MAX_BYTES ? undefined : utf8Text(bytes)
    this.claims = text === undefined || isCrowded(text) ? undefined : parseObject(text)
  }

  /** Who says to have issued the token (RFC 7519 §4.1.1); undefined: no string. */
  get iss(): string | undefined {
    if (this.claims === undefined) return topLevelText(this.#bytes, 'iss')
    const iss = ownProperty(this.claims, 'iss')
    return typeof iss === 'string' ? iss : undefined
  }

  /**
   * All claims, once the signature is verified.
   *
   * @throws TokenRefused
   */
  read(): Record<string, unknown> {
    return this.claims ?? parseObject(utf8Text(this.#bytes))
  }
}
