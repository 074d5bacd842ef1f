import { randomBytes } from 'node:crypto'
import { ownProperty } from '../outside/own-property.ts'
import { OpaqueFailure } from './opaque-failure.ts'

/** Bytes of the random token: as many as nobody guesses. */
const LENGTH = 32

/**
 * Asks of a random token, before any real one is sent. There are endpoints that call every token
 * active; such a one validates nothing.
 *
 * @throws OpaqueFailure where the answer is anything but no
 */
export async function sendCanary(ask: (token: string) => Promise<object>): Promise<void> {
  const answer = await ask(randomBytes(LENGTH).toString('base64url'))
  if (ownProperty(answer, 'active') === false) return
  throw new OpaqueFailure('ERR_INTROSPECTION_ALL_ACTIVE')
}
