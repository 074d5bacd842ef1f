import { entryPointOptions } from '../../config/option-reader.ts'
import type { OpaqueAnswer } from '../../identity/authentication/opaque-answer.ts'
import { LIFECYCLE, Lifecycle } from '../../platform/callbacks/lifecycle.ts'
import { badStatus } from '../../platform/http/failure.ts'
import { Exchanges, OpaqueFailure } from './exchanges.ts'
import { ADDRESS } from './introspection-options.ts'

export interface SeacatExchangeOptions {
  /** Address of the exchange that SeaCat Auth offers to Nginx; https, or http on loopback. */
  readonly url: string
}

const BEARER_JWT = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i

/**
 * For the option `opaqueToken`: exchanges a token of SeaCat Auth for an ID token, at the endpoint
 * that it offers to Nginx. The ID token is then verified like one of a request. No random token is
 * sent before: an endpoint that says yes to everything could not sign its answers.
 *
 * An exchange takes 5 seconds at most.
 *
 * @throws ERR_AUTH_CONFIG_INVALID which names all problems of the options
 */
export function seacatExchange(
  options: SeacatExchangeOptions,
): (token: string) => Promise<OpaqueAnswer> {
  const { url } = entryPointOptions('seacatExchange', options, { url: ADDRESS }).finish()
  const exchanges = new Exchanges()
  const ask = async (token: string): Promise<OpaqueAnswer> => {
    const headers = { authorization: `Bearer ${token}` }
    const response = await exchanges.fetch(url, { method: 'POST', headers })
    if (response.status === 401) return null
    const [, jwt] = BEARER_JWT.exec(response.headers.get('authorization') ?? '') ?? []
    if (response.status === 200 && jwt !== undefined) return jwt
    const reason = response.status === 200 ? undefined : badStatus(response.status)
    throw new OpaqueFailure('ERR_INTROSPECTION_ANSWER', reason)
  }
  return Object.defineProperty(ask, LIFECYCLE, { value: new Lifecycle(exchanges) })
}
