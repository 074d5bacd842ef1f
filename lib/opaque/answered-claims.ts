import { ownProperty } from '../outside/own-property.ts'
import { OpaqueFailure } from './opaque-failure.ts'

/**
 * What members say of an access token that a request may carry by itself. Servers call tokens of
 * another kind active too: `token_type` is DPoP, or N_A (RFC 8693), for some that it may not;
 * Keycloak tells refresh and ID tokens by `typ`, and Ory Hydra refresh tokens by `token_use`. A
 * member that is absent says nothing: all are optional.
 */
const OF_BEARER_TOKENS: readonly (readonly [member: string, values: readonly string[]])[] = [
  ['token_type', ['bearer']],
  ['typ', ['bearer', 'jwt', 'at+jwt', 'application/at+jwt']],
  ['token_use', ['access_token', 'access']],
]

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

function isBearer(answer: object): boolean {
  return OF_BEARER_TOKENS.every(([member, values]) => {
    if (!Object.hasOwn(answer, member)) return true
    const value = ownProperty(answer, member)
    return typeof value === 'string' && values.includes(value.toLowerCase())
  })
}
