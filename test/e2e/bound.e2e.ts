import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { decodeJwt } from 'jose'
import * as oauth from 'oauth4webapi'
import * as client from 'openid-client'
import { introspection } from '../../lib/entrypoints/introspection/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { challengesOf } from '../helpers/app/bound-app.ts'
import { untyped } from '../helpers/app/guarded-app.ts'
import {
  API,
  type OidcServer,
  OPAQUE_API,
  startOidcServer,
} from '../helpers/servers/oidc-server.ts'
import { PUBLIC } from '../helpers/tokens/bound.ts'
import { fromMemberships } from '../helpers/tokens/from-memberships.ts'
import { discover } from '../helpers/tokens/oidc-tokens.ts'

const SECRET = 'the secret of the kitchen, long enough'
const MENU = new URL('/lazy-raccoon/menu', PUBLIC)

describe('with a real authorization server that binds tokens, and real clients', () => {
  let server: OidcServer
  const open: FastifyInstance[] = []
  before(async () => {
    server = await startOidcServer()
  })
  after(async () => {
    await Promise.all(open.map((app) => app.close()))
    await server.close()
  })

  /** An API that clients know by another address than its own. */
  async function startApi(options: object = {}): Promise<FastifyInstance> {
    const metadata = (await discover(server, 'kitchen', client.None())).serverMetadata()
    const app = Fastify()
    open.push(app)
    const all: AuthOptions = untyped({
      publicKeysUrl: metadata.jwks_uri ?? '',
      issuer: metadata.issuer,
      audience: API,
      mapClaims: fromMemberships,
      confirmation: 'check',
      publicUrl: PUBLIC,
      ...options,
    })
    await app.register(tenantAuth, all)
    const config = { tenant: 'required', require: 'menu:read' } as const
    app.get('/:tenant/menu', { config }, async ({ tenant }) => ({ tenant }))
    app.post('/:tenant/menu', { config }, async ({ body }) => body)
    await app.listen({ host: '127.0.0.1', port: 0 })
    return app
  }

  /** The way of clients to the API, with a proxy on it. */
  const through =
    (api: FastifyInstance): typeof fetch =>
    (url, init) =>
      fetch(String(url).replace(PUBLIC, api.listeningOrigin), init)

  /** A token of client credentials, bound to a new key, and the client's way to use it. */
  async function kitchen(api: FastifyInstance, alg: string, resource: string = API) {
    const config = await discover(server, 'kitchen', client.ClientSecretBasic(SECRET))
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair(alg))
    const parameters = { resource, scope: 'menu' }
    const issued = await client.clientCredentialsGrant(config, parameters, { DPoP })
    assert.equal(issued.token_type, 'dpop')
    config[client.customFetch] = (url, init) => through(api)(url, Object(init))
    const token = issued.access_token
    const ask = (method = 'GET', handle = DPoP, body?: string) => {
      const headers = new Headers(body === undefined ? {} : { 'content-type': 'application/json' })
      return client.fetchProtectedResource(config, token, MENU, method, body, headers, {
        DPoP: handle,
      })
    }
    return { config, token, ask }
  }

  for (const alg of ['ES256', 'Ed25519']) {
    it(`lets openid-client in with proofs of ${alg}, again and again`, async () => {
      const api = await startApi()
      const { token, ask } = await kitchen(api, alg)
      assert.ok(Object(decodeJwt(token)['cnf']).jkt, 'the token is not bound')
      for (const _ of [1, 2, 3]) {
        const response = await ask()
        assert.equal(response.status, 200)
        assert.deepEqual(await response.json(), { tenant: 'lazy-raccoon' })
      }
      const posted = await ask('POST', undefined, '{"a":1}')
      assert.deepEqual(await posted.json(), { a: 1 })
    })
  }

  it('refuses the token with the key of another client, and as Bearer', async () => {
    const api = await startApi()
    const { config, token, ask } = await kitchen(api, 'ES256')
    const thief = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
    await assert.rejects(() => ask('GET', thief), /invalid_token|WWW-Authenticate/i)
    const bare = await through(api)(MENU, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(bare.status, 401)
    const challenges = challengesOf({ headers: Object.fromEntries(bare.headers) })
    assert.match(challenges.lines.join(), /error="invalid_token"/)
    assert.equal((await ask()).status, 200)
  })

  it('refuses a request that somebody has recorded', async () => {
    const api = await startApi()
    const { config, token } = await kitchen(api, 'ES256')
    const sent: RequestInit[] = []
    config[client.customFetch] = (url, init) => {
      sent.push({ headers: new Headers(Object(init).headers) })
      return through(api)(url, Object(init))
    }
    const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair('ES256'))
    const again = await client.clientCredentialsGrant(
      await discover(server, 'kitchen', client.ClientSecretBasic(SECRET)),
      { resource: API, scope: 'menu' },
      { DPoP },
    )
    assert.notEqual(again.access_token, token)
    const response = await client.fetchProtectedResource(
      config,
      again.access_token,
      MENU,
      'GET',
      undefined,
      undefined,
      { DPoP },
    )
    assert.equal(response.status, 200)
    const recorded = await through(api)(MENU, sent[0])
    assert.equal(recorded.status, 401)
    assert.match(String(recorded.headers.get('www-authenticate')), /error="invalid_dpop_proof"/)
  })

  it('lets oauth4webapi in with its own handle', async () => {
    const api = await startApi()
    const as = (await discover(server, 'kitchen', client.None())).serverMetadata()
    const kitchenClient: oauth.Client = { client_id: 'kitchen' }
    const DPoP = oauth.DPoP(kitchenClient, await oauth.generateKeyPair('ES256'))
    const issued = await oauth.clientCredentialsGrantRequest(
      as,
      kitchenClient,
      oauth.ClientSecretBasic(SECRET),
      { resource: API, scope: 'menu' },
      { DPoP, [oauth.allowInsecureRequests]: true },
    )
    const { access_token } = await oauth.processClientCredentialsResponse(as, kitchenClient, issued)
    for (const _ of [1, 2]) {
      const response = await oauth.protectedResourceRequest(
        access_token,
        'GET',
        MENU,
        undefined,
        undefined,
        { DPoP, [oauth.customFetch]: (url, init) => through(api)(url, Object(init)) },
      )
      assert.equal(response.status, 200)
    }
  })

  it('lets an opaque token in that the server says is bound, by introspection', async () => {
    const { issuer } = server
    const opaqueToken = introspection({ issuer, clientId: 'kitchen', clientSecret: SECRET })
    // The server's answer has no claims of its own.
    const mapClaims = ({ client_id: sub }: Record<string, unknown>) => {
      return { sub: String(sub), resources: { 'lazy-raccoon': ['menu:read'] } }
    }
    const api = await startApi({ audience: OPAQUE_API, opaqueToken, mapClaims })
    const { token, ask } = await kitchen(api, 'ES256', OPAQUE_API)
    assert.equal(token.split('.').length, 1)
    for (const _ of [1, 2]) assert.equal((await ask()).status, 200)
    const bare = await through(api)(MENU, { headers: { authorization: `Bearer ${token}` } })
    assert.equal(bare.status, 401)
  })

  it('refuses an unbound token of the same server where binding is required', async () => {
    const api = await startApi({ confirmation: 'require' })
    const config = await discover(server, 'kitchen', client.ClientSecretBasic(SECRET))
    const parameters = { resource: API, scope: 'menu' }
    const { access_token } = await client.clientCredentialsGrant(config, parameters)
    const headers = { authorization: `Bearer ${access_token}` }
    assert.equal((await through(api)(MENU, { headers })).status, 401)
    assert.equal((await (await kitchen(api, 'ES256')).ask()).status, 200)
  })
})
