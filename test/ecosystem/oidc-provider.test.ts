import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import * as client from 'openid-client'
import { FetchedKeys } from '../../lib/identity/jwks/fetch-jwks.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { TimeLimit } from '../../lib/platform/runtime/timer.ts'
import { API, type OidcServer, startOidcServer } from '../helpers/servers/oidc-server.ts'
import { fromMemberships } from '../helpers/tokens/from-memberships.ts'
import { discover, machineToken, userTokens } from '../helpers/tokens/oidc-tokens.ts'

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
    const metadata = (await discover(server, 'kitchen', client.None())).serverMetadata()
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

  it('is discovered by its issuer', async () => {
    const keys = new FetchedKeys({ location: { issuer: server.issuer } })
    const { kids } = await keys.load(new TimeLimit({ work: 10_000 }))
    assert.equal(kids.length, 2)
    assert.equal(keys.url, `${server.issuer}/jwks`)
  })

  it('lets a machine in with a JWT access token of client credentials', async () => {
    const api = await startApi({ audience: API, tokenTypes: ['at+jwt'] })
    const token = await machineToken(server)
    assert.equal(decodeProtectedHeader(token).typ, 'at+jwt')
    const { status, body } = await get(api, '/lazy-raccoon/menu', token)
    assert.equal(status, 200)
    assert.deepEqual(body, { tenant: 'lazy-raccoon', sub: 'kitchen' })
    assert.equal((await get(api, '/busy-beaver/menu', token)).status, 403)
  })

  it('lets a user in with the ID token of an authorization code with PKCE', async () => {
    const api = await startApi({ audience: 'menu-app' })
    const { idToken } = await userTokens(server)
    const { status, body } = await get(api, '/lazy-raccoon/menu', idToken)
    assert.equal(status, 200)
    assert.deepEqual(body, { tenant: 'lazy-raccoon', sub: 'user-1', name: 'little-capybara' })
    assert.equal((await get(api, '/busy-beaver/menu', idToken)).status, 403)
  })

  it('lets a user in with the access token that came with it', async () => {
    const api = await startApi({ audience: API, tokenTypes: ['at+jwt'] })
    const { accessToken } = await userTokens(server)
    assert.equal(decodeJwt(accessToken).sub, 'user-1')
    assert.equal((await get(api, '/lazy-raccoon/menu', accessToken)).status, 200)
  })

  it('refuses an ID token in place of an access token, and the other way round', async () => {
    const { accessToken, idToken } = await userTokens(server)
    const byType = await startApi({ audience: [API, 'menu-app'], tokenTypes: ['at+jwt'] })
    assert.equal((await get(byType, '/lazy-raccoon/menu', idToken)).status, 401)
    const byAudience = await startApi({ audience: 'menu-app' })
    assert.equal((await get(byAudience, '/lazy-raccoon/menu', accessToken)).status, 401)
  })

  it('refuses the tokens of a server that is not the configured issuer', async () => {
    const api = await startApi({ audience: API, issuer: `${server.issuer}/` })
    assert.equal((await get(api, '/lazy-raccoon/menu', await machineToken(server))).status, 401)
  })

  it('refuses a token with changed claims', async () => {
    const api = await startApi({ audience: API })
    const [header, payload = '', signature] = (await machineToken(server)).split('.')
    const claims: object = JSON.parse(Buffer.from(payload, 'base64url').toString())
    const memberships = { 'busy-beaver': ['menu:read'] }
    const changed = Buffer.from(JSON.stringify({ ...claims, memberships })).toString('base64url')
    const forged = `${header}.${changed}.${signature}`
    assert.equal((await get(api, '/busy-beaver/menu', forged)).status, 401)
  })

  it('takes tokens of old and new keys while the server publishes both', async () => {
    const api = await startApi({ audience: API })
    const old = await machineToken(server)
    assert.equal((await get(api, '/lazy-raccoon/menu', old)).status, 200)
    await server.rotate('keep the old')
    const fresh = await machineToken(server)
    assert.notEqual(decodeProtectedHeader(fresh).kid, decodeProtectedHeader(old).kid)
    assert.equal((await get(api, '/lazy-raccoon/menu', fresh)).status, 200)
    assert.equal((await get(api, '/lazy-raccoon/menu', old)).status, 200)
  })

  it('refuses tokens of old keys, cached ones too, when a set without them has arrived', async () => {
    const api = await startApi({ audience: [API, 'menu-app'] })
    const oldAccess = await machineToken(server)
    const { idToken: oldId } = await userTokens(server)
    for (const token of [oldAccess, oldId]) {
      assert.equal((await get(api, '/lazy-raccoon/menu', token)).status, 200)
    }
    await server.rotate('drop the old')
    const before = server.keyRequests

    // The API does not know yet, and its keys are fresh.
    assert.equal((await get(api, '/lazy-raccoon/menu', oldAccess)).status, 200)
    assert.equal(server.keyRequests, before)

    // The first new token makes it look, once for all requests that come together.
    const freshAccess = await machineToken(server)
    const { idToken: freshId } = await userTokens(server)
    const lookedAt = server.keyRequests
    const answers = await Promise.all(
      [freshAccess, freshId, freshAccess, freshId].map((t) => get(api, '/lazy-raccoon/menu', t)),
    )
    const found = answers.map(({ status }) => status)
    assert.deepEqual(found, [200, 200, 200, 200])
    assert.equal(server.keyRequests, lookedAt + 1)
    for (const token of [oldAccess, oldId]) {
      const { status, body } = await get(api, '/lazy-raccoon/menu', token)
      assert.equal(status, 401)
      assert.equal(body['code'], 'ERR_AUTH_TOKEN_INVALID')
    }
  })

  it('learns of new keys at once when the application asks for them', async () => {
    const api = await startApi({ audience: API })
    const old = await machineToken(server)
    assert.equal((await get(api, '/lazy-raccoon/menu', old)).status, 200)
    await server.rotate('drop the old')
    await api.authService.refreshKeys()
    assert.equal((await get(api, '/lazy-raccoon/menu', old)).status, 401)
    assert.equal((await get(api, '/lazy-raccoon/menu', await machineToken(server))).status, 200)
  })
})

async function get(api: FastifyInstance, path: string, token: string) {
  const response = await fetch(new URL(path, api.listeningOrigin), {
    headers: { authorization: `Bearer ${token}` },
  })
  const body: Record<string, unknown> = JSON.parse(await response.text())
  return { status: response.status, body }
}
