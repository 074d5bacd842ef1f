import { importPKCS8 } from 'jose'
import {
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  customFetch,
  introspectionRequest,
  modifyAssertion,
  PrivateKeyJwt,
  processIntrospectionResponse,
  validateApplicationLevelSignature,
} from 'oauth4webapi'
import { withoutEmptyMembers } from '../../identity/jwks/jwk.ts'
import { readMembers } from '../../identity/jwks/jwk-set.ts'
import { badStatus } from '../../platform/http/failure.ts'
import { ownMember } from '../../platform/runtime/own-property.ts'
import { asOpaqueFailure, type Exchanges, OpaqueFailure } from './exchanges.ts'
import type { ClientKey, IntrospectionRules } from './introspection-options.ts'

export interface ServerMetadata extends AuthorizationServer {
  readonly introspection_endpoint: string
}

const SIGNED = 'application/token-introspection+jwt'

/** A bearer token is one; a refresh token, for example, is not (RFC 7662 §2.1). */
const ACCESS_TOKEN = { token_type_hint: 'access_token' }

/** Error codes that speak of the client, and not of the token (RFC 6749 §5.2). */
const OF_THE_CLIENT: readonly unknown[] = ['invalid_client', 'unauthorized_client']

/**
 * An endpoint's answer about a token, signed if that is configured.
 *
 * @throws OpaqueFailure
 */
export type AskEndpoint = (token: string) => Promise<object>

export function endpointOf(
  { clientId, signed }: IntrospectionRules,
  server: ServerMetadata,
  authentication: ClientAuth,
  { fetch }: Exchanges,
): AskEndpoint {
  const client: Client = { client_id: clientId }
  // All addresses have been checked: http is on loopback.
  const options = { [customFetch]: fetch, [allowInsecureRequests]: true }
  const fetchKeys: typeof fetch = async (url, request) =>
    withoutUnusableKeys(await fetch(url, request))
  const ask: AskEndpoint = async (token) => {
    const response = await introspectionRequest(server, client, authentication, token, {
      ...options,
      requestJwtResponse: signed,
      additionalParameters: ACCESS_TOKEN,
    })
    if (response.status !== 200) throw await failureOf(response)
    if (isSigned(response) !== signed) throw new OpaqueFailure('ERR_INTROSPECTION_ANSWER')
    const answer = await processIntrospectionResponse(server, client, response)
    if (signed) {
      const keyOptions = { ...options, [customFetch]: fetchKeys }
      await validateApplicationLevelSignature(server, response, keyOptions)
    }
    return answer
  }
  return (token) =>
    ask(token).catch((error: unknown) => {
      throw asOpaqueFailure(error)
    })
}

/**
 * A response with a key set, as the guard reads it. Members that it would not take are left out: the
 * library imports all of them, and a huge exponent would block the process.
 *
 * @throws Unusable
 */
async function withoutUnusableKeys(response: Response): Promise<Response> {
  if (response.status !== 200) return response
  const set: unknown = await response.json()
  const read = readMembers(set)
  const members = ownMember(set, 'keys')
  const keys = Array.isArray(members) ? members.filter((_, i) => typeof read[i] === 'object') : []
  return Response.json({ keys: keys.map(withoutEmptyMembers) })
}

function isSigned({ headers }: Response): boolean {
  return headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === SIGNED
}

/** A gateway that is out of order, or a limit of requests, is not about the credentials. */
const BUSY: readonly number[] = [403, 429]

async function failureOf(response: Response): Promise<OpaqueFailure> {
  if (BUSY.includes(response.status)) return new OpaqueFailure('ERR_INTROSPECTION_BUSY')
  const isRefused = response.status === 401 || (await namesClient(response))
  if (isRefused) return new OpaqueFailure('ERR_INTROSPECTION_CREDENTIALS')
  return new OpaqueFailure('ERR_INTROSPECTION_ANSWER', badStatus(response.status))
}

async function namesClient(response: Response): Promise<boolean> {
  if (response.status !== 400) return false
  const answer: unknown = await response.json().catch(() => null)
  return OF_THE_CLIENT.includes(ownMember(answer, 'error'))
}

const BASIC = 'client_secret_basic'
const POST = 'client_secret_post'

/**
 * The ways in which a client may prove itself, the likeliest first. The metadata (RFC 8414 §2) are
 * for all clients of a server, and one client may be registered for another way, so that the first
 * may be refused and the second be right.
 *
 * @param credentials the secret or the key
 * @param methods those that the server supports; undefined: not known
 */
export function clientAuthentications(
  credentials: string | ClientKey,
  methods: readonly string[] | undefined,
): readonly [ClientAuth, ...ClientAuth[]] {
  if (typeof credentials !== 'string') return [signingWith(credentials)]
  const basic = secretInHeader(credentials)
  const post = ClientSecretPost(credentials)
  if (methods?.includes(POST) === methods?.includes(BASIC)) return [basic, post]
  return methods?.includes(POST) ? [post] : [basic]
}

/**
 * RFC 6749 §2.3.1, encoded as browsers encode forms. They leave the hyphen, the underscore, the dot
 * and the asterisk as they are, which the library does not. Some servers compare what they get
 * without decoding it, and know most clients only so.
 */
function secretInHeader(secret: string): ClientAuth {
  return (_server, client, _body, headers) => {
    const credentials = `${formEncoded(client.client_id)}:${formEncoded(secret)}`
    headers.set('authorization', `Basic ${btoa(credentials)}`)
  }
}

/** The value of a field without a name. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

function signingWith({ key, alg, kid }: ClientKey): ClientAuth {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  let authentication: Promise<ClientAuth> | undefined
  return async (...request) => {
    authentication ??= importPKCS8(pem, alg).then((key) =>
      PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
        // One algorithm has two names, EdDSA and Ed25519 (RFC 9864).
        [modifyAssertion]: (header) => Object.assign(header, { alg }),
      }),
    )
    await (await authentication)(...request)
  }
}
