import type { KeyObject } from 'node:crypto'

/** RFC 7518 §3.3: a modulus of 2048 bits at least. */
const LEAST_MODULUS_LENGTH = 2048

/** FIPS 186-5 §A.1.1: an odd public exponent above 2^16 and below 2^256. With 1, anybody signs. */
const LEAST_EXPONENT = 65_537n
const EXPONENT_LIMIT = 2n ** 256n

/**
 * Points of small order on Curve25519 in Edwards form, the sign bit cleared, in hexadecimal: with
 * one of them as the key, one signature fits every message (RFC 8032 §8.2 leaves the check to
 * whoever takes the key).
 */
const SMALL_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
])

/** Whether a key, though well-formed, proves nothing or too little. */
export function isWeakKey(key: KeyObject): boolean {
  if (key.asymmetricKeyType === 'rsa') return isWeakRsa(key)
  return key.asymmetricKeyType === 'ed25519' && isOfSmallOrder(key)
}

function isWeakRsa({
  asymmetricKeyDetails: { modulusLength = 0, publicExponent = 0n } = {},
}: KeyObject) {
  return (
    modulusLength < LEAST_MODULUS_LENGTH ||
    publicExponent < LEAST_EXPONENT ||
    publicExponent >= EXPONENT_LIMIT ||
    publicExponent % 2n === 0n
  )
}

function isOfSmallOrder(key: KeyObject): boolean {
  // The last 32 bytes of its SubjectPublicKeyInfo are the point (RFC 8410 §4).
  const point = key.export({ type: 'spki', format: 'der' }).subarray(-32)
  point.writeUInt8(point.readUInt8(31) & 0x7f, 31)
  return SMALL_ORDER.has(point.toString('hex'))
}
