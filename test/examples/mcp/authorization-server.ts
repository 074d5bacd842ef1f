import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { errors, Provider } from 'oidc-provider'
import { USERS } from './users.ts'

export interface AuthorizationServer {
  readonly issuer: string
  close(): Promise<void>
}

/**
 * An authorization server that clients register with by themselves. It has no pages: the user is
 * who the client's `login_hint` names, and consents to all.
 *
 * @param api the resource that it gives tokens for (RFC 8707); they are JWTs with that audience
 */
export async function startAuthorizationServer(
  api: string,
  port = 0,
): Promise<AuthorizationServer> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`
  const provider = await createProvider(issuer, api)
  const callback = provider.callback()
  server.on('request', (request, response) =>
    request.url?.startsWith('/interaction/')
      ? logIn(provider, api, request, response)
      : callback(request, response),
  )
  return {
    issuer,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

async function createProvider(issuer: string, api: string): Promise<Provider> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  return new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    scopes: ['openid', ...SCOPES],
    cookies: { keys: ['cookie signing key of an example'] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => {
          if (resource !== api) throw new errors.InvalidTarget()
          return {
            scope: SCOPES.join(' '),
            audience: api,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }
        },
      },
    },
    extraTokenClaims: (_context, token) =>
      'accountId' in token ? { resources: USERS[String(token.accountId)] } : {},
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    ttl: { AccessToken: 300, Grant: 300, IdToken: 300, Interaction: 300, Session: 300 },
  })
}

const SCOPES = ['menu:read', 'menu:edit']

/** In the place of the pages for the password and the consent. */
async function logIn(
  provider: Provider,
  api: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response)
  if (prompt.name === 'login') {
    const login = { accountId: String(params['login_hint']) }
    return provider.interactionFinished(request, response, { login })
  }
  const grant = new provider.Grant({
    ...(session && { accountId: session.accountId }),
    clientId: String(params['client_id']),
  })
  grant.addOIDCScope(SCOPES.join(' '))
  grant.addResourceScope(api, SCOPES.join(' '))
  const consent = { grantId: await grant.save() }
  return provider.interactionFinished(request, response, { consent })
}
