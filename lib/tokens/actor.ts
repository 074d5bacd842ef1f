import { isObject } from '../outside/is-object.ts'
import { ownProperty } from '../outside/own-property.ts'
import { TokenRefused } from './token-refused.ts'

/** Who acts for the user, such as a support agent or another service. Immutable. */
export interface Actor {
  /** The actor's identifier at its issuer. Never empty. */
  readonly sub: string
  /** The actor's own issuer; null where the token names none. */
  readonly issuer: string | null
}

/**
 * The outermost `act` of a token (RFC 8693 §4.1); null: it has none, and the user acts itself. The
 * actors before it, which are nested in it, are for information only.
 *
 * @throws TokenRefused where it names no actor
 */
export function readActor(claims: object): Actor | null {
  const act = ownProperty(claims, 'act')
  if (act === undefined) return null
  const { sub, iss } = isObject(act) ? namesIn(act) : NO_NAMES
  if (!isName(sub) || (iss !== undefined && !isName(iss))) {
    throw new TokenRefused('act is malformed')
  }
  return Object.freeze({ sub, issuer: iss ?? null })
}

const NO_NAMES = { sub: undefined, iss: undefined }

function namesIn(act: object): { readonly sub: unknown; readonly iss: unknown } {
  return { sub: ownProperty(act, 'sub'), iss: ownProperty(act, 'iss') }
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
