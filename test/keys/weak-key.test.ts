import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { isWeakKey } from '../../lib/keys/weak-key.ts'

const rsaOf = (modulusLength: number, publicExponent = 65_537) =>
  generateKeyPairSync('rsa', { modulusLength, publicExponent }).publicKey

test('the kinds of keys that servers publish are not weak', () => {
  for (const bits of [2048, 3072]) assert.equal(isWeakKey(rsaOf(bits)), false)
  assert.equal(isWeakKey(rsaOf(2048, 65_539)), false)
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    assert.equal(isWeakKey(generateKeyPairSync('ec', { namedCurve }).publicKey), false)
  }
  for (let round = 0; round < 100; round++) {
    assert.equal(isWeakKey(generateKeyPairSync('ed25519').publicKey), false)
  }
})

test('a short modulus and a small exponent are weak', () => {
  for (const bits of [512, 1024, 2040]) assert.equal(isWeakKey(rsaOf(bits)), true)
  for (const exponent of [3, 17, 257]) assert.equal(isWeakKey(rsaOf(2048, exponent)), true)
})

test('an Ed25519 key for which one signature fits every message is weak', () => {
  // R = this point and S = 0 is a signature of any message, at least for the OpenSSL of Node 20.
  const identity = Buffer.alloc(32)
  identity[0] = 1
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: identity.toString('base64url') }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  assert.equal(isWeakKey(key), true)
})

test('a key on P-256 is not weak where its coordinate reads like a point of small order', () => {
  const x = 'Ejm6tUI25vXO0PtQJZ_SM92FpnMF3KEOMe4lVpISuZs'
  const y = `AQ${'A'.repeat(41)}`
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' })
  assert.equal(isWeakKey(key), false)
})
