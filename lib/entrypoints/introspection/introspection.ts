import type { OpaqueAnswer } from '../../identity/authentication/opaque-tokens.ts'
import { LIFECYCLE, Lifecycle } from '../../platform/callbacks/lifecycle.ts'
import { isObject, ownProperty } from '../../platform/runtime/own-property.ts'
import { asOpaqueFailure, Exchanges, OpaqueFailure } from './exchanges.ts'
import { type IntrospectionOptions, readIntrospectionOptions } from './introspection-options.ts'
import { findEndpoint, provedEndpoint } from './proved-endpoint.ts'

/**
 * For the option `opaqueToken`: asks the introspection endpoint of an authorization server (RFC
 * 7662, RFC 9701). Needs the package oauth4webapi beside this one.
 *
 * - `active` must be `true`. An answer without `iss` counts as one of `issuer`; one of another
 *   issuer is refused, and so is a token of another type than Bearer, or DPoP with a `cnf` that
 *   names its key (RFC 9449 §6.2). `audience` and the times are checked as those of a JWT are.
 * - Before any real token it asks for a random one. An endpoint that calls it active validates
 *   nothing: every token is answered with 503, and the log says so, until the endpoint is mended.
 * - The same happens if the endpoint refuses the credentials of this client. If it answers 403 or
 *   429 to a random token too, it is left alone for a second, and longer each time.
 * - An exchange takes 5 seconds at most. Metadata are read again each hour.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function introspection(
  options: IntrospectionOptions,
): (token: string) => Promise<OpaqueAnswer> {
  const rules = readIntrospectionOptions(options)
  const exchanges = new Exchanges()
  const lifecycle = new Lifecycle(exchanges)
  const endpoint = provedEndpoint(
    () => findEndpoint(rules, exchanges),
    ({ message }) => lifecycle.logFailure(`${message}, so that opaque tokens get 503`),
    () => lifecycle.logSuccess(),
  )
  const ask = async (token: string): Promise<OpaqueAnswer> => {
    const proved = await endpoint.get()
    try {
      return answeredClaims(await proved(token), rules.issuer)
    } catch (error) {
      const failure = asOpaqueFailure(error)
      // Either the token is refused so, or the credentials. A random token shows which.
      if (failure.refusesClient || failure.isBusy) await endpoint.proveAgain()
      throw failure
    }
  }
  // Not enumerable: it is of no use to those who look at the function.
  return Object.defineProperty(ask, LIFECYCLE, { value: lifecycle })
}

/**
 * Members of an access token that a request may carry. Servers call tokens of another kind active
 * too: `token_type` is N_A (RFC 8693) for some that it may not; Keycloak marks refresh and ID
 * tokens by `typ`, Ory Hydra refresh tokens by `token_use`, or earlier by `token_type`, and
 * OpenIddict by `token_usage`. All members are optional.
 */
const OF_ACCESS_TOKENS: readonly (readonly [member: string, values: readonly string[]])[] = [
  ['token_type', ['bearer', 'dpop', 'access_token']],
  ['typ', ['bearer', 'dpop', 'jwt', 'at+jwt', 'application/at+jwt']],
  ['token_use', ['access_token', 'access']],
  ['token_usage', ['access_token', 'access']],
]

/**
 * The claims in an answer of an introspection endpoint (RFC 7662 §2.2). Null if the token is not
 * active, is no access token, or is one of another issuer.
 *
 * @throws OpaqueFailure if the answer does not say whether the token is active
 */
export function answeredClaims(answer: object, issuer: string): Record<string, unknown> | null {
  const isActive = ownProperty(answer, 'active')
  if (typeof isActive !== 'boolean') throw new OpaqueFailure('ERR_INTROSPECTION_ANSWER')
  if (!isActive || !isAccessToken(answer)) return null
  if (Object.hasOwn(answer, 'iss') && ownProperty(answer, 'iss') !== issuer) return null
  const claims = Object.entries(answer).filter(([name]) => name !== 'active')
  // Not by assignment: a claim may be called `__proto__`.
  return Object.fromEntries([...claims, ['iss', issuer]])
}

function isAccessToken(answer: object): boolean {
  const wordOf = (member: string): string => {
    const value = ownProperty(answer, member)
    return typeof value === 'string' ? value.toLowerCase() : ''
  }
  const isOne = OF_ACCESS_TOKENS.every(
    ([member, values]) => !Object.hasOwn(answer, member) || values.includes(wordOf(member)),
  )
  // Keycloak says so in both.
  const isDpop = [wordOf('token_type'), wordOf('typ')].includes('dpop')
  return isOne && (!isDpop || isBoundToKey(answer))
}

/** A token for DPoP whose answer hides the key would count as a bearer token. */
function isBoundToKey(answer: object): boolean {
  const cnf = ownProperty(answer, 'cnf')
  return isObject(cnf) && typeof ownProperty(cnf, 'jkt') === 'string'
}
