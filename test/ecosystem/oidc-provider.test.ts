import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import * as client from 'openid-client'
import tenantAuth, { type AuthOptions, type UserInfo } from '../../lib/index.ts'
import { FetchedKeys } from '../../lib/keys/fetched-keys.ts'
import { Browser } from '../helpers/processes/browser.ts'
import { API, CALLBACK, type OidcServer, startOidcServer } from '../helpers/servers/oidc-server.ts'

describe('with a real authorization server', () => {
  let server: OidcServer
  const open: FastifyInstance[] = []
  before(async () => {
    server = await startOidcServer()
  })
  after(async () => {
    await Promise.all(open.map((app) => app.close()))
    await server.close()
  })

  /** An API that gets the server's metadata as its settings (RFC 8414 §2). */
  async function startApi(options: AuthOptions): Promise<FastifyInstance> {
    const metadata = (await discover('kitchen', client.None())).serverMetadata()
    const app = Fastify()
    open.push(app)
    await app.register(tenantAuth, {
      publicKeysUrl: metadata.jwks_uri ?? '',
      issuer: metadata.issuer,
      mapClaims: fromMemberships,
      ...options,
    })
    const config = { tenant: 'required', userInfo: true, require: 'menu:read' } as const
    app.get('/:tenant/menu', { config }, async ({ tenant, userInfo }) => ({
      tenant,
      sub: userInfo.sub,
      name: userInfo.preferred_username,
    }))
    await app.listen({ host: '127.0.0.1', port: 0 })
    return app
  }

  function discover(id: string, authentication: client.ClientAuth): Promise<client.Configuration> {
    return client.discovery(new URL(server.issuer), id, undefined, authentication, {
      // On loopback there is no TLS.
      execute: [client.allowInsecureRequests],
    })
  }

  async function machineToken(): Promise<string> {
    const secret = client.ClientSecretBasic('the secret of the kitchen, long enough')
    const kitchen = await discover('kitchen', secret)
    const { access_token } = await client.clientCredentialsGrant(kitchen, {
      resource: API,
      scope: 'menu',
    })
    return access_token
  }

  /** Authorization code with PKCE (RFC 7636), state and nonce, in a browser without a user. */
  async function userTokens(): Promise<{ accessToken: string; idToken: string }> {
    const menuApp = await discover('menu-app', client.None())
    const pkceCodeVerifier = client.randomPKCECodeVerifier()
    const expectedState = client.randomState()
    const expectedNonce = client.randomNonce()
    const login = client.buildAuthorizationUrl(menuApp, {
      redirect_uri: CALLBACK,
      scope: 'openid profile menu',
      resource: API,
      code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state: expectedState,
      nonce: expectedNonce,
    })
    const arrived = await new Browser().follow(login, CALLBACK)
    const tokens = await client.authorizationCodeGrant(
      menuApp,
      arrived,
      { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true },
      { resource: API },
    )
    assert.ok(tokens.id_token, 'an id token was issued')
    return { accessToken: tokens.access_token, idToken: tokens.id_token }
  }

  it('is discovered by its issuer', async () => {
    const keys = new FetchedKeys({ location: { issuer: server.issuer } })
    const { kids } = await keys.load(AbortSignal.timeout(10_000))
    assert.equal(kids.length, 2)
    assert.equal(keys.url, `${server.issuer}/jwks`)
  })

  it('lets a machine in with a JWT access token of client credentials', async () => {
    const api = await startApi({ audience: API, tokenTypes: ['at+jwt'] })
    const token = await machineToken()
    assert.equal(decodeProtectedHeader(token).typ, 'at+jwt')
    const { status, body } = await get(api, '/lazy-raccoon/menu', token)
    assert.equal(status, 200)
    assert.deepEqual(body, { tenant: 'lazy-raccoon', sub: 'kitchen' })
    assert.equal((await get(api, '/busy-beaver/menu', token)).status, 403)
  })

  it('lets a user in with the ID token of an authorization code with PKCE', async () => {
    const api = await startApi({ audience: 'menu-app' })
    const { idToken } = await userTokens()
    const { status, body } = await get(api, '/lazy-raccoon/menu', idToken)
    assert.equal(status, 200)
    assert.deepEqual(body, { tenant: 'lazy-raccoon', sub: 'user-1', name: 'little-capybara' })
    assert.equal((await get(api, '/busy-beaver/menu', idToken)).status, 403)
  })

  it('lets a user in with the access token that came with it', async () => {
    const api = await startApi({ audience: API, tokenTypes: ['at+jwt'] })
    const { accessToken } = await userTokens()
    assert.equal(decodeJwt(accessToken).sub, 'user-1')
    assert.equal((await get(api, '/lazy-raccoon/menu', accessToken)).status, 200)
  })

  it('refuses an ID token in place of an access token, and the other way round', async () => {
    const { accessToken, idToken } = await userTokens()
    const byType = await startApi({ audience: [API, 'menu-app'], tokenTypes: ['at+jwt'] })
    assert.equal((await get(byType, '/lazy-raccoon/menu', idToken)).status, 401)
    const byAudience = await startApi({ audience: 'menu-app' })
    assert.equal((await get(byAudience, '/lazy-raccoon/menu', accessToken)).status, 401)
  })

  it('refuses the tokens of a server that is not the configured issuer', async () => {
    const api = await startApi({ audience: API, issuer: `${server.issuer}/` })
    assert.equal((await get(api, '/lazy-raccoon/menu', await machineToken())).status, 401)
  })

  it('refuses a token with changed claims', async () => {
    const api = await startApi({ audience: API })
    const [header, payload = '', signature] = (await machineToken()).split('.')
    const claims: object = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const memberships = { 'busy-beaver': ['menu:read'] }
    const changed = Buffer.from(JSON.stringify({ ...claims, memberships })).toString('base64url')
    const forged = `${header}.${changed}.${signature}`
    assert.equal((await get(api, '/busy-beaver/menu', forged)).status, 401)
  })

  it('takes tokens of old and new keys while the server publishes both', async () => {
    const api = await startApi({ audience: API })
    const old = await machineToken()
    assert.equal((await get(api, '/lazy-raccoon/menu', old)).status, 200)
    await server.rotate('keep the old')
    const fresh = await machineToken()
    assert.notEqual(decodeProtectedHeader(fresh).kid, decodeProtectedHeader(old).kid)
    assert.equal((await get(api, '/lazy-raccoon/menu', fresh)).status, 200)
    assert.equal((await get(api, '/lazy-raccoon/menu', old)).status, 200)
  })

  it('refuses tokens of old keys, cached ones too, when a set without them has arrived', async () => {
    const api = await startApi({ audience: [API, 'menu-app'] })
    const oldAccess = await machineToken()
    const { idToken: oldId } = await userTokens()
    for (const token of [oldAccess, oldId]) {
      assert.equal((await get(api, '/lazy-raccoon/menu', token)).status, 200)
    }
    await server.rotate('drop the old')
    const before = server.keyRequests

    // The API has not been told yet, and its keys are fresh.
    assert.equal((await get(api, '/lazy-raccoon/menu', oldAccess)).status, 200)
    assert.equal(server.keyRequests, before)

    // The first new token makes it look, once for all requests that come together.
    const freshAccess = await machineToken()
    const { idToken: freshId } = await userTokens()
    const lookedAt = server.keyRequests
    const answers = await Promise.all(
      [freshAccess, freshId, freshAccess, freshId].map((t) => get(api, '/lazy-raccoon/menu', t)),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    assert.equal(server.keyRequests, lookedAt + 1)
    for (const token of [oldAccess, oldId]) {
      const { status, body } = await get(api, '/lazy-raccoon/menu', token)
      assert.equal(status, 401)
      assert.equal(body['code'], 'ERR_AUTH_TOKEN_INVALID')
    }
  })

  it('learns of new keys at once when the application asks for them', async () => {
    const api = await startApi({ audience: API })
    const old = await machineToken()
    assert.equal((await get(api, '/lazy-raccoon/menu', old)).status, 200)
    await server.rotate('drop the old')
    await api.authService.refreshKeys()
    assert.equal((await get(api, '/lazy-raccoon/menu', old)).status, 401)
    assert.equal((await get(api, '/lazy-raccoon/menu', await machineToken())).status, 200)
  })
})

async function get(api: FastifyInstance, path: string, token: string) {
  const response = await fetch(new URL(path, api.listeningOrigin), {
    headers: { authorization: `Bearer ${token}` },
  })
  const body: Record<string, unknown> = JSON.parse(await response.text())
  return { status: response.status, body }
}

/** This server's own claim for the rights of a user in each tenant. */
function fromMemberships(claims: Record<string, unknown>): UserInfo {
  const { sub, preferred_username: name, memberships } = claims
  if (typeof sub !== 'string' || !isRights(memberships)) throw new Error('not our claims')
  return {
    sub,
    ...(typeof name === 'string' && { preferred_username: name }),
    resources: memberships,
  }
}

function isRights(value: unknown): value is Record<string, string[]> {
  return typeof value === 'object' && value !== null && Object.values(value).every(Array.isArray)
}
