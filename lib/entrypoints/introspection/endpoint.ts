import { randomBytes } from 'node:crypto'
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
import { assertMetadataOf, metadataBy } from '../../identity/jwks/discovery.ts'
import { withoutEmptyMembers } from '../../identity/jwks/jwk.ts'
import { readMembers } from '../../identity/jwks/jwk-set.ts'
import { badStatus } from '../../platform/http/failure.ts'
import { ownMember, ownProperty } from '../../platform/runtime/own-property.ts'
import { asOpaqueFailure, type Exchanges, OpaqueFailure } from './exchanges.ts'
import {
  type ClientKey,
  type IntrospectionRules,
  isServerAddress,
} from './introspection-options.ts'

/**
 * An endpoint's answer about a token, signed if that is configured.
 *
 * @throws OpaqueFailure
 */
export type AskEndpoint = (token: string) => Promise<object>

/**
 * The endpoint that may be sent real tokens: discovered, and proved by a random one, with the first
 * way to prove oneself that it does not refuse.
 *
 * @throws OpaqueFailure
 */
export async function findEndpoint(
  rules: IntrospectionRules,
  exchanges: Exchanges,
): Promise<AskEndpoint> {
  const server = await serverMetadata(rules, exchanges)
  const methods =
    server.introspection_endpoint_auth_methods_supported ??
    server.token_endpoint_auth_methods_supported
  for (const authentication of clientAuthentications(rules.credentials, methods)) {
    const ask = endpointOf(rules, server, authentication, exchanges)
    if (await isProved(ask)) return ask
  }
  throw new OpaqueFailure('ERR_INTROSPECTION_CREDENTIALS')
}

interface ServerMetadata extends AuthorizationServer {
  readonly introspection_endpoint: string
}

/**
 * The server that is asked: as configured, or discovered from its issuer (OpenID Connect Discovery
 * §4, RFC 8414 §3). The keys of signed answers are always discovered.
 *
 * @throws OpaqueFailure
 */
async function serverMetadata(
  { issuer, url, signed }: IntrospectionRules,
  exchanges: Exchanges,
): Promise<ServerMetadata> {
  if (url !== undefined && !signed) return { issuer, introspection_endpoint: url }
  const metadata = await discover(issuer, exchanges)
  const endpoint = url ?? ownProperty(metadata, 'introspection_endpoint')
  const keys = ownProperty(metadata, 'jwks_uri')
  if (isServerAddress(endpoint) && (!signed || isServerAddress(keys))) {
    return { ...metadata, introspection_endpoint: endpoint }
  }
  throw new OpaqueFailure('ERR_INTROSPECTION_METADATA')
}

async function discover(issuer: string, { fetch }: Exchanges): Promise<AuthorizationServer> {
  const read = async (url: string): Promise<unknown> => {
    const response = await fetch(url, { method: 'GET', headers: { accept: 'application/json' } })
    if (response.status !== 200) throw badStatus(response.status)
    return response.json()
  }
  try {
    const metadata = await metadataBy(read, issuer)
    assertMetadataOf(issuer, metadata)
    return { ...metadata, issuer }
  } catch (error) {
    // Other errors may hold words of the server.
    throw asOpaqueFailure(error, 'ERR_INTROSPECTION_METADATA')
  }
}

/**
 * The ways in which a client may prove itself, the likeliest first. The metadata (RFC 8414 §2) are
 * for all clients of a server, and one client may be registered for another way, so that the first
 * may be refused and the second be right.
 *
 * @param credentials the secret or the key
 * @param methods those that the server supports; undefined: not known
 */
function clientAuthentications(
  credentials: string | ClientKey,
  methods: readonly string[] | undefined,
): readonly ClientAuth[] {
  if (typeof credentials !== 'string') return [signingWith(credentials)]
  const basic = secretInHeader(credentials)
  const post = ClientSecretPost(credentials)
  const takesPost = methods?.includes('client_secret_post')
  if (takesPost === methods?.includes('client_secret_basic')) return [basic, post]
  return takesPost ? [post] : [basic]
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

const SIGNED = 'application/token-introspection+jwt'

/** A bearer token is one; a refresh token, for example, is not (RFC 7662 §2.1). */
const ACCESS_TOKEN = { token_type_hint: 'access_token' }

function endpointOf(
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
  return async (token) => {
    try {
      const response = await introspectionRequest(server, client, authentication, token, {
        ...options,
        requestJwtResponse: signed,
        additionalParameters: ACCESS_TOKEN,
      })
      if (response.status !== 200) throw await failureOf(response)
      if (isSigned(response) !== signed) throw new OpaqueFailure('ERR_INTROSPECTION_ANSWER')
      const answer = await processIntrospectionResponse(server, client, response)
      const keyOptions = { ...options, [customFetch]: fetchKeys }
      if (signed) await validateApplicationLevelSignature(server, response, keyOptions)
      return answer
    } catch (error) {
      throw asOpaqueFailure(error)
    }
  }
}

/** As the library reads it. */
function isSigned({ headers }: Response): boolean {
  return headers.get('content-type')?.split(';')[0] === SIGNED
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

/** Error codes that speak of the client, and not of the token (RFC 6749 §5.2). */
const OF_THE_CLIENT: readonly unknown[] = ['invalid_client', 'unauthorized_client']

/** A gateway that is out of order, or a limit of requests, is not about the credentials. */
const BUSY: readonly number[] = [403, 429]

async function failureOf(response: Response): Promise<OpaqueFailure> {
  const { status } = response
  if (BUSY.includes(status)) return new OpaqueFailure('ERR_INTROSPECTION_BUSY')
  const answer: unknown = status === 400 && (await response.json().catch(() => null))
  const isOfClient = status === 401 || OF_THE_CLIENT.includes(ownMember(answer, 'error'))
  if (isOfClient) return new OpaqueFailure('ERR_INTROSPECTION_CREDENTIALS')
  return new OpaqueFailure('ERR_INTROSPECTION_ANSWER', badStatus(status))
}

/**
 * Asks about a random token, before any real one is sent. There are endpoints that call every token
 * active; such a one validates nothing. False: the endpoint refuses the credentials.
 *
 * @throws OpaqueFailure
 */
async function isProved(ask: AskEndpoint): Promise<boolean> {
  const token = randomBytes(32).toString('base64url')
  const answer = await ask(token).catch((error: unknown) => asOpaqueFailure(error))
  if (answer instanceof OpaqueFailure) {
    if (answer.refusesClient) return false
    throw answer
  }
  if (ownProperty(answer, 'active') === false) return true
  throw new OpaqueFailure('ERR_INTROSPECTION_ALL_ACTIVE')
}
