import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { ClientMetadata } from 'oidc-provider'
import {
  type IntrospectionOptions,
  introspection,
} from '../../lib/entrypoints/introspection/index.ts'
import { openLifecycle } from '../helpers/app/open-lifecycle.ts'
import { type OidcServer, OPAQUE_API, startOidcServer } from '../helpers/servers/oidc-server.ts'
import { imported } from '../helpers/tokens/forge.ts'
import { machineToken } from '../helpers/tokens/oidc-tokens.ts'

const clientSecret = 'the secret of the lunch API, long enough'
const newPair = () => imported(generateKeyPairSync('ec', { namedCurve: 'P-256' }))
const { privateKey, publicKey } = newPair()
const signingJwk = { ...privateKey.export({ format: 'jwk' }), kid: 'lunch', alg: 'ES256' }
const publicJwk = { ...publicKey.export({ format: 'jwk' }), kid: 'lunch', alg: 'ES256' }

/** A client that only asks of tokens. */
const asking = (client_id: string, more: ClientMetadata | object): ClientMetadata => ({
  client_id,
  grant_types: [],
  redirect_uris: [],
  response_types: [],
  ...more,
})

const CLIENTS: ClientMetadata[] = [
  asking('basic', {
    client_secret: clientSecret,
    token_endpoint_auth_method: 'client_secret_basic',
  }),
  asking('post', { client_secret: clientSecret, token_endpoint_auth_method: 'client_secret_post' }),
  asking('key', { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [publicJwk] } }),
  asking('signed', {
    client_secret: clientSecret,
    introspection_signed_response_alg: 'ES256',
  }),
  asking('signed-key', {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [publicJwk] },
    introspection_signed_response_alg: 'RS256',
  }),
]

type Member = keyof IntrospectionOptions

/** How each of the clients asks. */
const WAYS: readonly (readonly [
  clientId: string,
  more: { readonly [name in Member]?: unknown },
])[] = [
  ['basic', { clientSecret }],
  ['post', { clientSecret }],
  ['key', { privateKey: signingJwk }],
  ['signed', { clientSecret, signed: true }],
  ['signed-key', { privateKey: signingJwk, signed: true }],
]

describe('with the introspection endpoint of a real authorization server', () => {
  let server: OidcServer
  let token: string
  before(async () => {
    server = await startOidcServer(CLIENTS)
    token = await machineToken(server, OPAQUE_API)
  })
  after(() => server.close())

  /** A function for a client, and what it logs for the operator. */
  function start(clientId: string, more: object) {
    const logged: string[] = []
    const options = { issuer: server.issuer, clientId, ...more }
    const ask: ReturnType<typeof introspection> = Reflect.apply(introspection, null, [options])
    openLifecycle(ask, (reason) => logged.push(reason))
    return { ask, logged }
  }

  for (const [clientId, more] of WAYS) {
    it(`gives the client "${clientId}" the claims of a token, found by discovery`, async () => {
      const { ask, logged } = start(clientId, more)
      const claims = await ask(token)
      assert.ok(typeof claims === 'object' && claims !== null, `no claims: ${claims}`)
      assert.equal(claims['iss'], server.issuer)
      assert.equal(claims['aud'], OPAQUE_API)
      assert.equal(claims['client_id'], 'kitchen')
      assert.equal(claims['scope'], 'menu')
      assert.equal(typeof claims['exp'], 'number')
      assert.equal('active' in claims, false)
      assert.deepEqual(logged, [])
    })

    it(`answers the client "${clientId}" null for what is no token`, async () => {
      const { ask } = start(clientId, more)
      assert.equal(await ask(`${token.slice(0, -1)}!`), null)
      assert.equal(await ask('never-issued'), null)
    })

    it(`is asked by the client "${clientId}" at a configured address too`, async () => {
      const url = `${server.issuer}/token/introspection`
      const { ask } = start(clientId, { ...more, url })
      assert.notEqual(await ask(token), null)
      assert.equal(await ask('never-issued'), null)
    })
  }

  it('refuses another secret, and logs that once', async () => {
    const { ask, logged } = start('basic', { clientSecret: 'another secret of the same length !!' })
    for (const _ of ['first', 'second']) {
      await assert.rejects(ask(token), { code: 'ERR_INTROSPECTION_CREDENTIALS' })
    }
    assert.equal(logged.length, 1)
  })

  it('refuses another key', async () => {
    const other = newPair().privateKey
    const { ask } = start('key', { privateKey: other.export({ format: 'jwk' }) })
    await assert.rejects(ask(token), { code: 'ERR_INTROSPECTION_CREDENTIALS' })
  })
})
