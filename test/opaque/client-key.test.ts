import assert from 'node:assert/strict'
import { generateKeyPairSync, type JsonWebKey, type KeyObject } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { introspection } from '../../lib/introspection.ts'
import { introspectionServer } from '../helpers/servers/introspection-server.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve })
const ed = generateKeyPairSync('ed25519')

interface Pair {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** What the JWK says beside its key, and with what is signed. */
const KEYS: readonly [pair: Pair, more: JsonWebKey, header: object][] = [
  [rsa, {}, { alg: 'RS256' }],
  [rsa, { alg: 'RS512', kid: 'one' }, { alg: 'RS512', kid: 'one' }],
  [rsa, { alg: 'PS256' }, { alg: 'PS256' }],
  [ec('P-256'), { use: 'sig', kid: 'two' }, { alg: 'ES256', kid: 'two' }],
  [ec('P-384'), {}, { alg: 'ES384' }],
  [ec('P-521'), { key_ops: ['sign'] }, { alg: 'ES512' }],
  [ed, {}, { alg: 'EdDSA' }],
  [ed, { alg: 'Ed25519' }, { alg: 'Ed25519' }],
]

async function assertions(t: TestContext, privateKey: object) {
  const server = await introspectionServer(t)
  const { issuer } = server
  const ask = introspection({ issuer, clientId: 'menu-api', privateKey })
  await ask('a-token')
  await ask('a-token')
  for (const { authorization, body } of server.asked) {
    assert.equal(authorization, undefined)
    const type = body.get('client_assertion_type')
    assert.equal(type, 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
  }
  return { issuer, jwts: server.asked.map(({ body }) => body.get('client_assertion') ?? '') }
}

for (const [{ privateKey, publicKey }, more, header] of KEYS) {
  const name = `${privateKey.asymmetricKeyType} with ${JSON.stringify(more)}`
  test(`a key of type ${name} signs by ${JSON.stringify(header)}`, async (t) => {
    const jwk = { ...privateKey.export({ format: 'jwk' }), ...more }
    const { issuer, jwts } = await assertions(t, jwk)
    const known: JWK = { kty: '', ...publicKey.export({ format: 'jwk' }), ...header }
    const keys = createLocalJWKSet({ keys: [known] })
    const seen = new Set<unknown>()
    for (const jwt of jwts) {
      assert.deepEqual(decodeProtectedHeader(jwt), header)
      const { payload } = await jwtVerify(jwt, keys, { issuer: 'menu-api', audience: issuer })
      assert.equal(payload.sub, 'menu-api')
      seen.add(payload.jti)
    }
    assert.equal(seen.size, 3)
  })
}
