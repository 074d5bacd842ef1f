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

/**
 * What importing one key on a curve costs, in tenths of a millisecond: Node computes whether the
 * point is in the group. Any other key costs one, or less.
 */
const CURVE_COSTS: ReadonlyMap<string | undefined, number> = new Map([
  ['P-384', 7],
  ['P-521', 15],
])

/** Fifteen milliseconds, in one piece: 10 keys on P-521, 21 on P-384, or 100 of any other kind. */
const MOST_FOR_SET = 150

/**
 * Whether importing all keys of a set would hold up all other requests.
 *
 * @param curves of each key; undefined: of one without a curve
 */
export function isCostlySet(curves: readonly (string | undefined)[]): boolean {
  const costs = curves.map((curve) => CURVE_COSTS.get(curve) ?? 1)
  return costs.reduce((sum, cost) => sum + cost, 0) > MOST_FOR_SET
}
