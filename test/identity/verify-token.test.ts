import assert from 'node:assert/strict'
import { createHmac, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import { decodeObject, parseCompactJws } from '../../lib/identity/compact-jws.ts'
import { readKey, type VerificationKey } from '../../lib/identity/json-web-key.ts'
import { TokenRefused } from '../../lib/identity/token-refused.ts'
import type { UserInfo } from '../../lib/identity/user-info.ts'
import { type VerifyRules, verifyToken } from '../../lib/identity/verify-token.ts'
import { startAttacker } from '../helpers/attacker.ts'
import { encode, forge, forgeKey, partsOf, signatureOf } from '../helpers/forge.ts'
import { assertTokenRefused, goodClaims, goodToken, KEY, startProbe } from '../helpers/probe.ts'

const RSA = forgeKey('RS256', 'rsa')
const ED = forgeKey('EdDSA', 'ed')
const KEYS = { keys: [KEY.publicJwk, RSA.publicJwk, ED.publicJwk] }

const KEY_OF_PROBE = importedKey()

function importedKey(): VerificationKey {
  const key = readKey(KEY.publicJwk)
  assert.ok(key)
  return key
}

function verified(token: string, rules: Partial<VerifyRules> = {}) {
  const headerRules = {
    algorithms: new Set(['ES256']),
    tokenTypes: new Set(['application/at+jwt']),
  }
  const jws = parseCompactJws(token, 100_000, headerRules)
  return verifyToken(jws, KEY_OF_PROBE, { clockTolerance: 5, ...rules })
}

test('a good token gives its claims, deeply frozen, and its lifetime', () => {
  const claims = goodClaims({ nbf: 1 })
  const { userInfo, lifetime } = verified(forge(KEY, { payload: claims }))
  assert.deepEqual(userInfo, claims)
  assert.ok(Object.isFrozen(userInfo.resources?.['acme']))
  assert.deepEqual(lifetime, { exp: claims['exp'], nbf: 1, iat: claims['iat'] })
})

test('the signature is asked before a word of the payload is believed', () => {
  const [header, , signature] = partsOf(goodToken())
  for (const payload of ['not JSON', '{}', '[]']) {
    const token = `${header}.${encode(payload)}.${signature}`
    assert.throws(() => verified(token), { reason: 'the signature does not match' })
  }
})

test('mapClaims gives the user info, and what it returned stays the application’s own', () => {
  const shared = { acme: ['menu:read'] }
  const mapClaims = (claims: Record<string, unknown>): UserInfo => ({
    sub: String(claims['oid']),
    resources: shared,
  })
  const { userInfo } = verified(goodToken({ oid: 'a1' }), { mapClaims })
  assert.deepEqual(userInfo, { sub: 'a1', resources: { acme: ['menu:read'] } })
  assert.ok(Object.isFrozen(userInfo.resources))
  assert.ok(!Object.isFrozen(shared))
  shared.acme.push('menu:write')
  assert.deepEqual(userInfo.resources, { acme: ['menu:read'] })
})

test('mapClaims is not asked about a token that is expired, or not for us', () => {
  let asked = 0
  const mapClaims = (): UserInfo => {
    asked += 1
    return { sub: 'anybody' }
  }
  const rules = { mapClaims, issuer: ['https://authority.test'], audience: ['api'] }
  for (const claims of [{ exp: 1 }, { iss: 'other' }, { aud: 'other' }, { iat: 1e12 }]) {
    assert.throws(() => verified(goodToken(claims), rules), TokenRefused)
  }
  assert.equal(asked, 0)
  assert.ok(verified(goodToken(), rules))
  assert.equal(asked, 1)
})

test('what mapClaims changes in the claims cannot make a token last longer', () => {
  const mapClaims = (claims: Record<string, unknown>): UserInfo => {
    claims['exp'] = 1e12
    return { sub: 'alice', ...claims }
  }
  const token = goodToken()
  const { lifetime } = verified(token, { mapClaims })
  assert.equal(lifetime.exp, decodeObject(partsOf(token)[1])['exp'])
})

const UNUSABLE_MAPS: [what: string, mapClaims: (claims: Record<string, unknown>) => unknown][] = [
  ['throws', () => assert.fail('on purpose')],
  ['gives nothing', () => undefined],
  ['gives null', () => null],
  ['gives a list', () => [{ sub: 'alice' }]],
  ['gives a string', () => 'alice'],
  ['gives no sub', () => ({ resources: {} })],
  ['gives an empty sub', () => ({ sub: '' })],
  ['gives a BigInt', () => ({ sub: 'alice', n: 1n })],
  ['gives a function for sub', () => ({ sub: () => 'alice' })],
  ['gives a Map for resources and no sub', () => ({ resources: new Map() })],
  ['gives resources that are a list', () => ({ sub: 'alice', resources: ['acme'] })],
  ['gives itself in itself', () => circular()],
  ['gives 7 000 levels', () => ({ sub: 'alice', deep: nested(7000) })],
  ['promises an answer', async () => ({ sub: 'alice' })],
  ['promises an answer and fails', async () => assert.fail('on purpose')],
]

function circular(): object {
  const user: Record<string, unknown> = { sub: 'alice' }
  user['self'] = user
  return user
}

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels))
}

for (const [what, mapClaims] of UNUSABLE_MAPS) {
  test(`a token is refused where mapClaims ${what}`, async (t) => {
    // What a JavaScript application may give all the same.
    const options: object = { mapClaims }
    const probe = await startProbe(t, options)
    assertTokenRefused(await probe.ask(goodToken()), what)
  })
}

const [HEADER, PAYLOAD, SIGNATURE] = partsOf(goodToken())
const INPUT = `${HEADER}.${PAYLOAD}`

function hmac(secret: string | Buffer | KeyObject, hash: string): string {
  return createHmac(hash, secret).update(INPUT).digest('base64url')
}

function flipped(part: string, at: number): string {
  const bytes = Buffer.from(part, 'base64url')
  const byte = bytes.at(at)
  assert.ok(byte !== undefined)
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

test('algorithms leaves only what it names', async (t) => {
  const probe = await startProbe(t, { publicKeys: KEYS, algorithms: ['RS256'] })
  assert.equal((await probe.ask(forge(RSA, { payload: goodClaims() }))).statusCode, 200)
  assertTokenRefused(await probe.ask(goodToken()), 'ES256')
})

/** Everything about a public key that is public, as a secret of an HMAC. */
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

test('public material is no secret of an HMAC', async (t) => {
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

test('a key that the token brings along is not used, and nobody is asked for it', async (t) => {
  const attacker = await startAttacker(t, 'mallory')
  const { key, url } = attacker
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
  assert.equal(attacker.hits(), 0)
})

const KIDS = [
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  '/dev/null',
  "' OR '1'='1",
  'probe\0',
  'probe ',
  'PROBE',
  'prob\u0435',
  '',
  '%s%s%n',
  'http://127.0.0.1/keys',
  'k'.repeat(4000),
]

test('a kid is a name to compare and nothing else', async (t) => {
  const probe = await startProbe(t)
  for (const kid of KIDS) {
    assertTokenRefused(await probe.ask(goodToken({}, { kid })), JSON.stringify(kid.slice(0, 40)))
  }
})

test('each of these kids works where it is the kid of the key', async (t) => {
  for (const kid of KIDS) {
    const probe = await startProbe(t, { publicKeys: { keys: [{ ...KEY.publicJwk, kid }] } })
    assert.equal((await probe.ask(goodToken({}, { kid }))).statusCode, 200, kid.slice(0, 40))
    assertTokenRefused(await probe.ask(goodToken()), 'another kid')
  }
})

test('without a kid exactly one usable key must fit', async (t) => {
  const second = forgeKey('ES256', 'second')
  const withoutKid = goodToken({}, { kid: undefined })
  const one = await startProbe(t, { publicKeys: KEYS })
  assert.equal((await one.ask(withoutKid)).statusCode, 200)
  const two = await startProbe(t, { publicKeys: { keys: [KEY.publicJwk, second.publicJwk] } })
  assertTokenRefused(await two.ask(withoutKid), 'two that fit')
  const none = await startProbe(t, { publicKeys: { keys: [RSA.publicJwk] } })
  assertTokenRefused(await none.ask(withoutKid), 'none that fits')
  const encrypting = { ...second.publicJwk, use: 'enc' }
  const usable = await startProbe(t, { publicKeys: { keys: [KEY.publicJwk, encrypting] } })
  assert.equal((await usable.ask(withoutKid)).statusCode, 200)
})

test('two keys of one kid and algorithm are no key', async (t) => {
  const probe = await startProbe(t, { publicKeys: { keys: [KEY.publicJwk, mallory.publicJwk] } })
  assertTokenRefused(await probe.ask(goodToken()), 'the first')
  const other = forge(mallory, { payload: goodClaims() })
  assertTokenRefused(await probe.ask(other), 'the second')
})

test('a key without alg serves the algorithms of its type, and its curve decides', async (t) => {
  const { alg: _, ...anyAlg } = RSA.publicJwk
  const { alg: __, ...anyCurve } = KEY.publicJwk
  const probe = await startProbe(t, { publicKeys: { keys: [anyAlg, anyCurve] } })
  for (const alg of ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']) {
    const token = forge({ ...RSA, alg }, { payload: goodClaims() })
    assert.equal((await probe.ask(token)).statusCode, 200, alg)
  }
  assert.equal((await probe.ask(goodToken())).statusCode, 200)
  for (const alg of ['ES384', 'ES512', 'EdDSA', 'RS256']) {
    assertTokenRefused(await probe.ask(goodToken({}, { alg })), alg)
  }
})
