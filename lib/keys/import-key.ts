import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'

/** Bytes of an RSA modulus of 8192 bits, with the zero before it that some servers write. */
const MODULUS = 1025

/**
 * Most bytes of each member, whatever the type of its key. Node computes with what it imports: an
 * RSA exponent of 400 kB blocks the process for half a minute. So the length of the text is judged
 * before anything reads it.
 */
const MOST_BYTES: ReadonlyMap<string, number> = new Map([
  ['n', MODULUS],
  // FIPS 186-5 §A.1.1: below 2^256.
  ['e', 32],
  // P-521.
  ['x', 66],
  ['y', 66],
  // ML-DSA-87.
  ['pub', 2592],
  ...['d', 'p', 'q', 'dp', 'dq', 'qi', 'priv'].map((name): [string, number] => [name, MODULUS]),
])

/** Whether a member of a JWK is longer than that of any key that is used. */
export function isOversized(jwk: object): boolean {
  return Object.entries(jwk).some(([name, value]) => {
    const most = MOST_BYTES.get(name)
    if (most === undefined || typeof value !== 'string') return false
    return Buffer.byteLength(value, 'base64url') > most
  })
}

/**
 * The public key of a JWK, or null where it is none. Node checks what it imports: lengths, and that
 * a point is on its curve.
 */
export function importKey(jwk: JsonWebKey): KeyObject | null {
  if (isOversized(jwk)) return null
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    return null
  }
}
