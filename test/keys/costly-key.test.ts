import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { isCostlyKey, isCostlySet } from '../../lib/keys/costly-key.ts'

/** A public key of that size. Nobody has to hold its private key. */
function rsaOf(bits: number, exponent: bigint) {
  const n = uint(2n ** BigInt(bits) - 1n)
  return createPublicKey({ key: { kty: 'RSA', n, e: uint(exponent) }, format: 'jwk' })
}

/** RFC 7518 §2 Base64urlUInt. */
function uint(value: bigint): string {
  const hex = value.toString(16)
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
}

const LONG = 2n ** 64n - 1n
const LONGEST = 2n ** 256n - 1n

test('the keys that servers publish, and far longer ones, are not costly', () => {
  for (const bits of [2048, 3072, 4096, 8192]) {
    assert.equal(isCostlyKey(rsaOf(bits, 65_537n)), false, `${bits} bits`)
  }
  assert.equal(isCostlyKey(rsaOf(4096, LONG)), false)
  assert.equal(isCostlyKey(rsaOf(2048, LONGEST)), false)
  assert.equal(isCostlyKey(generateKeyPairSync('ed25519').publicKey), false)
  assert.equal(isCostlyKey(generateKeyPairSync('ec', { namedCurve: 'P-521' }).publicKey), false)
})

test('with half the modulus, an exponent of four times the length costs as much', () => {
  assert.equal(isCostlyKey(rsaOf(4096, 2n ** 68n - 1n)), false)
  assert.equal(isCostlyKey(rsaOf(4096, 2n ** 68n + 1n)), true)
})

test('a long modulus, and a long exponent with a modulus that is not short, are costly', () => {
  for (const bits of [8193, 16_384]) assert.equal(isCostlyKey(rsaOf(bits, 65_537n)), true)
  assert.equal(isCostlyKey(rsaOf(16_384, LONG)), true)
  assert.equal(isCostlyKey(rsaOf(8192, LONG)), true)
  assert.equal(isCostlyKey(rsaOf(3072, LONGEST)), true)
})

/** So many keys of a curve cost no more than a set may. */
const SETS = [
  ['P-521', 10],
  ['P-384', 21],
  ['P-256', 150],
  [undefined, 150],
] as const

for (const [curve, most] of SETS) {
  test(`${most} keys on ${curve ?? 'no curve'} are not too costly together, and one more is`, () => {
    const curves = Array.from({ length: most }, () => curve)
    assert.deepEqual([isCostlySet(curves), isCostlySet([...curves, curve])], [false, true])
  })
}
