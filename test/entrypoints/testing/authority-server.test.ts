import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type TestContext, test } from 'node:test'
import { serveAuthority } from '../../../lib/entrypoints/testing/authority-server.ts'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'

async function served(t: TestContext) {
  const { publicKeys, issuer } = await createTestAuthority()
  const authority = await serveAuthority(0, () => ({ issuer, algorithm: 'ES256', publicKeys }))
  t.after(() => authority.server.close())
  const origin = `http://127.0.0.1:${authority.port}`
  return { ...authority, origin, publicKeys, issuer }
}

test('the keys are at the path of the default publicKeysUrl, with a query too', async (t) => {
  const { origin, keysUrl, publicKeys } = await served(t)
  assert.equal(keysUrl, `${origin}/openidconnect/public_keys`)
  const response = await fetch(`${keysUrl}?fresh`)
  assert.equal(response.headers.get('content-type'), 'application/jwk-set+json')
  assert.deepEqual(await response.json(), publicKeys)
})

test('the metadata has all that OpenID Connect Discovery requires', async (t) => {
  const { origin, keysUrl, issuer } = await served(t)
  const response = await fetch(`${origin}/.well-known/openid-configuration`)
  assert.equal(response.headers.get('content-type'), 'application/json')
  assert.deepEqual(await response.json(), {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: keysUrl,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  })
})

for (const path of ['/', '/authorize', '/token', '/openidconnect/public_keys/']) {
  test(`${path} is 404, and says what there is`, async (t) => {
    const response = await fetch(`${(await served(t)).origin}${path}`)
    assert.equal(response.status, 404)
    assert.match(await response.text(), /^A test authority serves \/openidconnect\/public_keys and/)
  })
}

test('it listens on loopback only', async (t) => {
  const { server, port } = await served(t)
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null, 'it listens on a port')
  assert.equal(address.address, '127.0.0.1')
  const beyond = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
  for (const { address: host } of beyond) {
    const socket = connect(port, host)
    await assert.rejects(once(socket, 'connect'), host)
  }
})
