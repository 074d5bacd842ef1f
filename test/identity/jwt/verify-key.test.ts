import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forge, forgeKey } from '../../helpers/tokens/forge.ts'
import {
  assertTokenRefused,
  goodClaims,
  goodToken,
  KEY,
  startProbe,
} from '../../helpers/tokens/probe.ts'

const RSA = forgeKey('RS256', 'rsa')
const KEYS = { keys: [KEY.publicJwk, RSA.publicJwk] }

/** Another key under the name of the good one. */
const mallory = forgeKey('ES256', KEY.kid)

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
  'k'.repeat(1400),
]

test('a kid is a name to compare and nothing else', async (t) => {
  const probe = await startProbe(t)
  for (const kid of KIDS) {
    assertTokenRefused(await probe.ask(goodToken({}, { kid })), JSON.stringify(kid.slice(0, 40)))
  }
})

test('each of these kids works if it is the kid of the key', async (t) => {
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

test('two keys of one kid and algorithm verify nothing', async (t) => {
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
