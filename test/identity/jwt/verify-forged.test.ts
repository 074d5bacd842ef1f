import assert from 'node:assert/strict'
import { createHmac, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { askedServer } from '../../helpers/servers/asked-server.ts'
import { encode, forge, forgeKey, partsOf, signatureOf } from '../../helpers/tokens/forge.ts'
import {
  assertTokenRefused,
  goodClaims,
  goodToken,
  KEY,
  startProbe,
} from '../../helpers/tokens/probe.ts'

const RSA = forgeKey('RS256', 'rsa')
const ED = forgeKey('EdDSA', 'ed')
const KEYS = { keys: [KEY.publicJwk, RSA.publicJwk, ED.publicJwk] }

const [HEADER, PAYLOAD, SIGNATURE] = partsOf(goodToken())
const INPUT = `${HEADER}.${PAYLOAD}`

function hmac(secret: string | Buffer | KeyObject, hash: string): string {
  return createHmac(hash, secret).update(INPUT).digest('base64url')
}

function flipped(part: string, at: number): string {
  const bytes = Buffer.from(part, 'base64url')
  const byte = bytes.at(at)
  assert.ok(byte !== undefined, 'a byte')
  bytes.writeUInt8(byte ^ 1, at < 0 ? bytes.length + at : at)
  return bytes.toString('base64url')
}

const mallory = forgeKey('ES256', KEY.kid)

const SIGNATURES: [what: string, token: string][] = [
  ['all zero', `${INPUT}.${Buffer.alloc(64).toString('base64url')}`],
  [
    'r zero',
    `${INPUT}.${Buffer.concat([Buffer.alloc(32), sig().subarray(32)]).toString('base64url')}`,
  ],
  [
    's zero',
    `${INPUT}.${Buffer.concat([sig().subarray(0, 32), Buffer.alloc(32)]).toString('base64url')}`,
  ],
  ['in DER', `${INPUT}.${signatureOf(KEY, INPUT, 'der').toString('base64url')}`],
  ['one bit off at the start', `${INPUT}.${flipped(SIGNATURE, 0)}`],
  ['one bit off at the end', `${INPUT}.${flipped(SIGNATURE, -1)}`],
  ['cut off', `${INPUT}.${sig().subarray(0, 63).toString('base64url')}`],
  ['of one byte', `${INPUT}.AA`],
  [
    'with bytes behind',
    `${INPUT}.${Buffer.concat([sig(), Buffer.alloc(2)]).toString('base64url')}`,
  ],
  [
    'with zeros before',
    `${INPUT}.${Buffer.concat([Buffer.alloc(2), sig()]).toString('base64url')}`,
  ],
  ['of another payload', `${HEADER}.${encode(goodClaims({ sub: 'mallory' }))}.${SIGNATURE}`],
  ['of another header', `${encode({ alg: 'ES256', kid: 'probe' })}.${PAYLOAD}.${SIGNATURE}`],
  ['of a stranger', forge(mallory, { payload: goodClaims() })],
  ['an HMAC', `${INPUT}.${hmac('secret', 'sha256')}`],
]

function sig(): Buffer {
  return Buffer.from(SIGNATURE, 'base64url')
}

test('a signature that is not the key’s is refused', async (t) => {
  const probe = await startProbe(t)
  assert.equal((await probe.ask(`${INPUT}.${SIGNATURE}`)).statusCode, 200)
  for (const [what, token] of SIGNATURES) assertTokenRefused(await probe.ask(token), what)
  assert.equal(probe.handled.count, 1)
})

test('each key serves its own algorithm only', async (t) => {
  const probe = await startProbe(t, { publicKeys: KEYS })
  for (const key of [KEY, RSA, ED]) {
    assert.equal((await probe.ask(forge(key, { payload: goodClaims() }))).statusCode, 200, key.alg)
    for (const alg of ['RS256', 'RS384', 'PS256', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']) {
      if (alg === key.alg) continue
      const token = forge(key, { header: { alg }, payload: goodClaims() })
      assertTokenRefused(await probe.ask(token), `${alg} with a key for ${key.alg}`)
    }
    for (const other of [KEY, RSA, ED]) {
      if (other === key) continue
      const token = forge(key, { header: { kid: other.kid }, payload: goodClaims() })
      assertTokenRefused(await probe.ask(token), `${key.alg} under the kid of ${other.alg}`)
    }
  }
})

test('algorithms allows only what it names', async (t) => {
  const probe = await startProbe(t, { publicKeys: KEYS, algorithms: ['RS256'] })
  assert.equal((await probe.ask(forge(RSA, { payload: goodClaims() }))).statusCode, 200)
  assertTokenRefused(await probe.ask(goodToken()), 'ES256')
})

/** All public data of a public key, as a secret of an HMAC. */
function publicForms(key: typeof RSA): [what: string, secret: string | Buffer][] {
  const pem = key.publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const jwk = key.publicKey.export({ format: 'jwk' })
  return [
    ['the PEM', pem],
    ['the PEM, trimmed', pem.trim()],
    ['the PEM without line feeds', pem.replaceAll('\n', '')],
    ['the PEM with CR LF', pem.replaceAll('\n', '\r\n')],
    ['the body of the PEM', pem.replaceAll(/-----.*?-----|\n/g, '')],
    ['the DER', key.publicKey.export({ type: 'spki', format: 'der' })],
    ['the JWK', JSON.stringify(jwk)],
    ['the published JWK', JSON.stringify(key.publicJwk)],
    ['the JWK set', JSON.stringify(KEYS)],
    ['the modulus or x', jwk.n ?? jwk.x ?? ''],
    ['the bytes of the modulus or x', Buffer.from(jwk.n ?? jwk.x ?? '', 'base64url')],
    ['the kid', key.kid],
    ['nothing', ''],
    ['null', 'null'],
  ]
}

test('public data does not serve as a secret of an HMAC', async (t) => {
  const probe = await startProbe(t, { publicKeys: KEYS })
  for (const key of [KEY, RSA, ED]) {
    for (const [what, secret] of publicForms(key)) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const input = `${encode({ alg, kid: key.kid, typ: 'at+jwt' })}.${encode(goodClaims())}`
        const hash = `sha${alg.slice(2)}`
        const token = `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
        assertTokenRefused(await probe.ask(token), `${alg} over ${what} of ${key.alg}`)
      }
    }
  }
  assert.equal(probe.handled.count, 0)
})

test('a key in the token is not used, and its address is not asked', async (t) => {
  const key = forgeKey('ES256', 'mallory')
  const attacker = await askedServer((_request, response) => {
    response.end(JSON.stringify({ keys: [key.publicJwk] }))
  })
  const { url } = attacker
  const probe = await startProbe(t)
  const jwk = key.publicKey.export({ format: 'jwk' })
  const x5c = [key.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')]
  for (const kid of [key.kid, KEY.kid, undefined, url]) {
    for (const header of [
      { jwk },
      { jku: url },
      { x5u: url },
      { x5c },
      { jwk, jku: url, x5u: url, x5c },
    ]) {
      const token = forge(key, { header: { ...header, kid }, payload: goodClaims() })
      assertTokenRefused(await probe.ask(token), `${Object.keys(header)} with kid ${kid}`)
    }
  }
  const issuedThere = forge(key, { payload: goodClaims({ iss: url }) })
  assertTokenRefused(await probe.ask(issuedThere), 'another issuer')
  assert.equal(attacker.count, 0)
})
