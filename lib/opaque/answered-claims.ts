import { ownProperty } from '../outside/own-property.ts'
import { OpaqueFailure } from './opaque-failure.ts'

/** Types of JWT that are bearer tokens, where an answer repeats the type of the token. */
const BEARER_TYPES = ['bearer', 'jwt', 'at+jwt', 'application/at+jwt']

/**
 * The claims in an answer of an introspection endpoint (RFC 7662 §2.2). Null where the token is not
 * active, is no bearer token, or is one of another issuer.
 *
 * @throws OpaqueFailure where the answer does not say whether the token is active
 */
export function answeredClaims(answer: object, issuer: string): Record<string, unknown> | null {
  const isActive = ownProperty(answer, 'active')
  if (typeof isActive !== 'boolean') throw new OpaqueFailure('ERR_INTROSPECTION_ANSWER')
  if (!isActive || !isBearer(answer)) return null
  if (Object.hasOwn(answer, 'iss') && ownProperty(answer, 'iss') !== issuer) return null
  const claims = Object.entries(answer).filter(([name]) => name !== 'active')
  // Not by assignment: a claim may be called `__proto__`.
  return Object.fromEntries([...claims, ['iss', issuer]])
}

/**
 * Servers call a token of another kind active too: `token_type` is DPoP, or N_A (RFC 8693), for one
 * that no request may carry by itself; `typ` is Refresh or ID for those of Keycloak. Absent members
 * say nothing: both are optional.
 */
function isBearer(answer: object): boolean {
  return isAmong(['bearer'], answer, 'token_type') && isAmong(BEARER_TYPES, answer, 'typ')
}

function isAmong(known: readonly string[], answer: object, name: string): boolean {
  if (!Object.hasOwn(answer, name)) return true
  const value = ownProperty(answer, name)
  return typeof value === 'string' && known.includes(value.toLowerCase())
}
