import assert from 'node:assert/strict'
import * as client from 'openid-client'
import { Browser } from '../processes/browser.ts'
import { API, CALLBACK, type OidcServer } from '../servers/oidc-server.ts'

type OfServer = Pick<OidcServer, 'issuer'>

/** A client of the server, which has read its metadata (RFC 8414 §2). */
export function discover(
  { issuer }: OfServer,
  id: string,
  authentication: client.ClientAuth,
): Promise<client.Configuration> {
  return client.discovery(new URL(issuer), id, undefined, authentication, {
    // On loopback there is no TLS.
    execute: [client.allowInsecureRequests],
  })
}

/** An access token of client credentials. */
export async function machineToken(server: OfServer, resource: string = API): Promise<string> {
  const secret = client.ClientSecretBasic('the secret of the kitchen, long enough')
  const kitchen = await discover(server, 'kitchen', secret)
  const { access_token } = await client.clientCredentialsGrant(kitchen, { resource, scope: 'menu' })
  return access_token
}

/** Authorization code with PKCE (RFC 7636), state and nonce, in a browser without a user. */
export async function userTokens(
  server: OfServer,
  resource: string = API,
  { clientId = 'menu-app', browser = new Browser() } = {},
): Promise<{ accessToken: string; idToken: string }> {
  const menuApp = await discover(server, clientId, client.None())
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const expectedNonce = client.randomNonce()
  const login = client.buildAuthorizationUrl(menuApp, {
    redirect_uri: CALLBACK,
    scope: 'openid profile menu',
    resource,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  })
  const arrived = await browser.follow(login, CALLBACK)
  const tokens = await client.authorizationCodeGrant(
    menuApp,
    arrived,
    { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true },
    { resource },
  )
  assert.ok(tokens.id_token, 'an id token was issued')
  return { accessToken: tokens.access_token, idToken: tokens.id_token }
}

/** Revokes a token of the user at the server (RFC 7009). */
export async function revokeUserToken(server: OfServer, token: string): Promise<void> {
  await client.tokenRevocation(await discover(server, 'menu-app', client.None()), token)
}

/** The user logs out at the server (OpenID Connect RP-Initiated Logout), and confirms it. */
export async function logOut(server: OfServer, browser: Browser, idToken: string): Promise<void> {
  const page = new URL(`${server.issuer}/session/end`)
  page.searchParams.set('id_token_hint', idToken)
  const [, xsrf = assert.fail('no form')] =
    /name="xsrf" value="(\w+)"/.exec(await browser.open(page)) ?? []
  await browser.open(new URL(`${server.issuer}/session/end/confirm`), { xsrf, logout: 'yes' })
}
