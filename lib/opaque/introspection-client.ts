import type { OpaqueAnswer } from '../authentication/opaque-answer.ts'
import { ATTENDED, Attendance } from '../outside/attendance.ts'
import { answeredClaims } from './answered-claims.ts'
import { Exchanges } from './exchanges.ts'
import { findEndpoint } from './find-endpoint.ts'
import { type IntrospectionOptions, readIntrospectionOptions } from './introspection-options.ts'
import { isBusy, refusesCredentials } from './opaque-failure.ts'
import { ProvedEndpoint } from './proved-endpoint.ts'

/**
 * For the option `opaqueToken`: asks the introspection endpoint of an authorization server (RFC
 * 7662, RFC 9701). Needs the package oauth4webapi beside this one.
 *
 * - `active` must be `true`. An answer without `iss` counts as one of `issuer`; one of another
 *   issuer is refused, and so is a token of another type than Bearer. `audience` and the times are
 *   checked as those of a JWT are.
 * - Before any real token it asks for a random one. An endpoint that calls it active validates
 *   nothing: every token is answered with 503, and the log says so, until the endpoint is mended.
 * - Where the endpoint refuses the credentials of this client: the same. Where it answers 403 or
 *   429 to a random token too, it is left alone for a second, and longer each time.
 * - An exchange takes 5 seconds at most. Metadata are read again each hour.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which tells all problems of the options
 */
export function introspection(
  options: IntrospectionOptions,
): (token: string) => Promise<OpaqueAnswer> {
  const rules = readIntrospectionOptions(options)
  const exchanges = new Exchanges()
  const attendance = new Attendance(exchanges)
  const endpoint = new ProvedEndpoint(() => findEndpoint(rules, exchanges), {
    onFault: ({ message }) => attendance.tell(`${message}, so that opaque tokens get 503`),
    onProved: () => attendance.forget(),
  })
  const ask = async (token: string): Promise<OpaqueAnswer> => {
    const proved = await endpoint.get()
    try {
      return answeredClaims(await proved.ask(token), rules.issuer)
    } catch (error) {
      // It may be the token that is refused so. A random one tells.
      if (refusesCredentials(error) || isBusy(error)) await endpoint.proveAgain()
      throw error
    }
  }
  // Not enumerable: the attendant is of no use to those who look at the function.
  return Object.defineProperty(ask, ATTENDED, { value: attendance })
}
