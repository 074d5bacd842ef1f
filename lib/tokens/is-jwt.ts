import { isObject } from '../outside/is-object.ts'
import { MAX_HEADER_LENGTH } from './jose-header.ts'

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
