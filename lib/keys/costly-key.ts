import type { KeyObject } from 'node:crypto'

/**
 * The most that verifying with an RSA key may cost: as much as with 8192 bits and the usual
 * exponent, some eight times the cost of 2048 bits. It grows with the square of the modulus, and
 * with the length of the exponent.
 */
const MOST = costOf(8192, 65_537n)

/**
 * Whether verifying with a key costs so much that its issuer, and whoever sends forged tokens in
 * its name, could hold up all other requests: with 16384 bits and an exponent of 64 bits a
 * hundred times as much as usual.
 */
export function isCostlyKey({ asymmetricKeyDetails = {} }: KeyObject): boolean {
  // A key of another type has no modulus, and costs little.
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails
  return costOf(modulusLength, publicExponent) > MOST
}

function costOf(modulusLength: number, publicExponent: bigint): number {
  return modulusLength ** 2 * publicExponent.toString(2).length
}
