import { isObject } from '../outside/is-object.ts'
import { TokenRefused } from './token-refused.ts'

/**
 * The text of a token's part as a JSON object: no byte order mark before it, no array, no null.
 *
 * @throws TokenRefused
 */
export function parseObject(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new TokenRefused('a part is not JSON')
  }
  if (!isObject(value)) throw new TokenRefused('a part is not a JSON object')
  return value
}
