import { TokenRefused } from './token-refused.ts'

/**
 * The bytes of one part of a token, in the one spelling that encoding them gives (RFC 7515 §2, RFC
 * 4648 §3.5). Node reads other letters, padding, white space and set pad bits too; such a second
 * spelling of a token would be one that a cache or a deny list does not know.
 *
 * @throws TokenRefused
 */
export function decodeBase64url(part: string): Buffer {
  const bytes = Buffer.from(part, 'base64url')
  if (part === '' || bytes.toString('base64url') !== part) {
    throw new TokenRefused('a part is not base64url')
  }
  return bytes
}
