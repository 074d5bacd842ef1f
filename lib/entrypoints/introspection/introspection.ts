import type { OpaqueAnswer } from '../../identity/authentication/opaque-answer.ts'
import { LIFECYCLE, Lifecycle } from '../../platform/callbacks/lifecycle.ts'
import { clock } from '../../platform/runtime/clock.ts'
import { ignoreRejection } from '../../platform/runtime/maybe-promise.ts'
import { ownMember, ownProperty } from '../../platform/runtime/own-property.ts'
import { BackOff } from '../../platform/runtime/timer.ts'
import { type AskEndpoint, findEndpoint } from './endpoint.ts'
import { asOpaqueFailure, Exchanges, OpaqueFailure } from './exchanges.ts'
import {
  type IntrospectionOptions,
  type IntrospectionRules,
  readIntrospectionOptions,
} from './introspection-options.ts'

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
  const endpoint = provedEndpoint(rules, exchanges, lifecycle)
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

/** Milliseconds after which an endpoint is looked for, and proved, anew. */
const MAX_AGE = 3_600_000

/** Milliseconds for which it serves beyond that, while its issuer cannot be reached. */
const MAX_STALE = 3_600_000

/** Seconds until an endpoint that is at fault is tried again. */
const REST = { retry: 1, retryMax: 30 }

/**
 * The endpoint that real tokens are sent to. It is proved before the first use, and each hour
 * again; one proof at a time, in the background if there is an endpoint. An endpoint that is
 * found at fault serves no more, and rests before the next proof.
 */
function provedEndpoint(rules: IntrospectionRules, exchanges: Exchanges, lifecycle: Lifecycle) {
  const backOff = new BackOff(REST)
  let endpoint: AskEndpoint | undefined
  let failure = new OpaqueFailure('ERR_INTROSPECTION_NO_ANSWER')
  let running: Promise<AskEndpoint> | undefined
  // Readings of `clock`, in milliseconds.
  let provedAt = Number.NEGATIVE_INFINITY
  let dueAt = Number.NEGATIVE_INFINITY
  /** Many requests may find together that the endpoint is busy. Until then nothing is asked. */
  let busyUntil = Number.NEGATIVE_INFINITY

  async function attempt(): Promise<AskEndpoint> {
    try {
      endpoint = await findEndpoint(rules, exchanges)
    } catch (error) {
      failure = asOpaqueFailure(error)
      if (failure.isFault) endpoint = undefined
      // An outage is not remembered: without an endpoint, the next token asks again.
      const rests = failure.isFault || failure.isBusy || endpoint !== undefined
      dueAt = clock.now() + (rests ? backOff.next() : 0)
      if (failure.isBusy) busyUntil = dueAt
      if (failure.isFault) lifecycle.logFailure(`${failure.message}, so that opaque tokens get 503`)
      throw failure
    }
    provedAt = clock.now()
    dueAt = provedAt + MAX_AGE
    backOff.reset()
    lifecycle.logSuccess()
    return endpoint
  }

  /** A proof that is under way, or begins. @throws OpaqueFailure */
  async function proveAgain(): Promise<AskEndpoint> {
    if (clock.now() < busyUntil) throw new OpaqueFailure('ERR_INTROSPECTION_BUSY')
    running ??= attempt().finally(() => {
      running = undefined
    })
    return running
  }

  /** @throws OpaqueFailure */
  async function get(): Promise<AskEndpoint> {
    const now = clock.now()
    if (now < busyUntil) throw new OpaqueFailure('ERR_INTROSPECTION_BUSY')
    if (now >= dueAt) ignoreRejection(proveAgain())
    if (endpoint !== undefined && now - provedAt < MAX_AGE + MAX_STALE) return endpoint
    if (running === undefined) throw failure
    return running
  }

  return { get, proveAgain }
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
  // A token for DPoP whose answer hides the key would count as a bearer token.
  const isBound = typeof ownMember(ownProperty(answer, 'cnf'), 'jkt') === 'string'
  return isOne && (!isDpop || isBound)
}
