import { isUtf8 } from 'node:buffer'
import { isObject } from '../outside/is-object.ts'
import { TokenRefused } from './token-refused.ts'

/**
 * The bytes of a token's part as a JSON object: UTF-8 without a byte order mark, no array, no null.
 *
 * @throws TokenRefused
 */
export function parseObject(bytes: Buffer): Record<string, unknown> {
  if (!isUtf8(bytes)) throw new TokenRefused('a part is not UTF-8')
  let value: unknown
  try {
    // Which keeps a byte order mark, and JSON has none.
    value = JSON.parse(bytes.toString())
  } catch {
    throw new TokenRefused('a part is not JSON')
  }
  if (!isObject(value)) throw new TokenRefused('a part is not a JSON object')
  return value
}
