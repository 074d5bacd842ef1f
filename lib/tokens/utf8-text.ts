import { isUtf8 } from 'node:buffer'
import { TokenRefused } from './token-refused.ts'

/**
 * The text of a token's part, which is UTF-8 (RFC 7515 §2) without a fault: Node would read others
 * with letters in place of the faults. It keeps a byte order mark.
 *
 * @throws TokenRefused
 */
export function utf8Text(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new TokenRefused('a part is not UTF-8')
  return bytes.toString()
}
