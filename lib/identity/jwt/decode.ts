import { isUtf8 } from 'node:buffer'
import { isObject } from '../../platform/runtime/own-property.ts'
import { refuseToken } from './refuse-token.ts'

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
    throw refuseToken('a part is not base64url')
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
  if (!isUtf8(bytes)) throw refuseToken('a part is not UTF-8')
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
    throw refuseToken('a part is not JSON')
  }
  if (!isObject(value)) throw refuseToken('a part is not a JSON object')
  return value
}
