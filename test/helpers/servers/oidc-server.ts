import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, type JWK } from 'jose'
import { type ClientMetadata, type KoaContextWithOIDC, Provider } from 'oidc-provider'
import { portOf } from './asked-server.ts'

export const API = 'https://menu.test/api'
/** Another API, whose access tokens are opaque. */
export const OPAQUE_API = 'https://lunch.test/api'
export const CALLBACK = 'http://127.0.0.1/callback'

/** The rights of users and machines in each tenant. */
type Memberships = Readonly<Record<string, readonly string[]>>

const MEMBERSHIPS: Memberships = { 'lazy-raccoon': ['menu:read'] }

export interface OidcServer {
  readonly issuer: string
  /** How many requests for the key set came. */
  readonly keyRequests: number
  /** From now on new keys sign. The key set still holds the last ones, or not. */
  rotate(keep: 'keep the old' | 'drop the old'): Promise<void>
  close(): Promise<void>
}

/**
 * A certified authorization server on loopback. It has a machine (`kitchen`), a public client
 * (`menu-app`), and one user, who is logged in without a login page. Access tokens for API are JWTs
 * (RFC 9068); those for OPAQUE_API are opaque. A login is of the kind that `acr_values` prefers,
 * and access tokens say so.
 *
 * @param clients further ones, such as APIs that ask about tokens
 * @param memberships a claim of its own, which only `mapClaims` understands
 */
export async function startOidcServer(
  clients: ClientMetadata[] = [],
  memberships: Memberships = MEMBERSHIPS,
): Promise<OidcServer> {
  let provider: Provider | undefined
  let keys: JWK[] = []
  let keyRequests = 0
  const server = createServer((request, response) => {
    if (provider === undefined) return response.writeHead(503).end()
    if (request.url === '/jwks') keyRequests += 1
    if (request.url?.startsWith('/interaction/')) return logIn(provider, request, response)
    return provider.callback()(request, response)
  })
  const issuer = `http://127.0.0.1:${await portOf(server)}`

  // Another provider at the same address stands for a restart with another configuration. Its data
  // is in the memory of the process, and outlives it.
  const rotate: OidcServer['rotate'] = async (keep) => {
    const created = [await createKey('RS256'), await createKey('ES256')]
    keys = keep === 'keep the old' ? [...created, ...keys] : created
    provider = createProvider(issuer, keys, { clients, memberships })
  }
  await rotate('drop the old')

  return {
    issuer,
    get keyRequests() {
      return keyRequests
    },
    rotate,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function createProvider(
  issuer: string,
  keys: JWK[],
  { clients, memberships }: { clients: ClientMetadata[]; memberships: Memberships },
): Provider {
  return new Provider(issuer, {
    jwks: { keys },
    cookies: { keys: ['cookie signing key of a test'] },
    clients: [
      {
        client_id: 'kitchen',
        client_secret: 'the secret of the kitchen, long enough',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
      {
        client_id: 'menu-app',
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: [CALLBACK],
      },
      ...clients,
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'memberships'] },
    // The ID token carries the claims too, not only the userinfo endpoint.
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      jwtIntrospection: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, audience) => ({
          scope: 'menu',
          audience,
          accessTokenFormat: audience === API ? 'jwt' : 'opaque',
          jwt: { sign: { alg: 'ES256' } },
        }),
      },
    },
    // The session of clients that ask for it (`backchannel_logout_session_required`).
    extraTokenClaims: (ctx) => ({
      memberships,
      ...loginIn(ctx),
      sid: ctx.oidc.entities.AuthorizationCode?.sid,
    }),
    findAccount: (_ctx, accountId) => ({
      accountId,
      claims: () => ({
        sub: accountId,
        preferred_username: 'little-capybara',
        memberships,
      }),
    }),
    // Without the provider's own dispatcher, which refuses loopback: front ends of tests are there.
    fetch: (url, options) => fetch(url, sent({ ...options, dispatcher: undefined })),
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    ttl: {
      AccessToken: 300,
      ClientCredentials: 300,
      Grant: 300,
      IdToken: 300,
      Interaction: 300,
      Session: 300,
    },
  })
}

/** RFC 9068 §2.2.1: of the login itself, also of a token that was refreshed. */
function loginIn({ oidc: { entities } }: KoaContextWithOIDC) {
  const { acr, authTime } = entities.AuthorizationCode ?? entities.RefreshToken ?? {}
  return acr === undefined ? {} : { acr, auth_time: authTime }
}
/** As much of a request as was given. */
const sent = (request: object): RequestInit =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined))

/** Without pages for the password and the consent: both are given at once. */
async function logIn(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    const [acr = ''] = String(params['acr_values'] ?? '').split(' ')
    const login = { accountId: 'user-1', ...(acr !== '' && { acr }) }
    return provider.interactionFinished(request, response, { login })
  }
  const grant = new provider.Grant({
    ...(session && { accountId: session.accountId }),
    clientId: String(params['client_id']),
  })
  grant.addOIDCScope('openid profile offline_access')
  for (const resource of [API, OPAQUE_API]) grant.addResourceScope(resource, 'menu')
  const consent = { grantId: await grant.save() }
  return provider.interactionFinished(request, response, { consent })
}

async function createKey(alg: string): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), alg, use: 'sig' }
}
