import { hash, type KeyObject } from 'node:crypto'
import { isObject } from '../../platform/runtime/own-property.ts'
import { algorithmsOf, importKey, isOversized } from './algorithms.ts'

/** A public key that may verify tokens, ready for use. */
export interface VerificationKey {
  readonly kid: string | undefined
  readonly algorithms: ReadonlySet<string>
  readonly key: KeyObject
  /** Two keys are the same if their fingerprints are: material, `kid` and algorithms. */
  readonly fingerprint: string
}

/** Parameters of private keys (RFC 7518 §6.2.2, §6.3.2; RFC 8037 §2; RFC 9964). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'priv']

const STRINGS = ['kty', 'kid', 'alg', 'crv', 'n', 'e', 'x', 'y', 'pub'] as const

/** The members that make a key of each type, without those that describe it. */
const MATERIAL: ReadonlyMap<string | undefined, readonly (keyof Strings)[]> = new Map([
  ['RSA', ['kty', 'n', 'e']],
  ['EC', ['kty', 'crv', 'x', 'y']],
  ['OKP', ['kty', 'crv', 'x']],
  ['AKP', ['kty', 'alg', 'pub']],
])

type Strings = { readonly [name in (typeof STRINGS)[number]]?: string }

/** The flaw by which a member of a JWK set verifies no token. */
export type KeyFlaw =
  | 'malformed'
  | 'symmetric'
  | 'private'
  | 'for encryption'
  | 'not for verifying'
  | 'of an unknown type'
  | 'for no known algorithm'
  | 'too weak'
  | 'too costly'

/** A member of a JWK set by its text alone. Importing it is what costs. */
interface WrittenKey {
  readonly kid: string | undefined
  readonly algorithms: readonly string[]
  readonly material: Strings
}

/** Lists that say nothing when they are empty. */
const LISTS = ['key_ops', 'oth']

/**
 * A member of a JWK set, without what says nothing about its key. Servers that write an object of
 * .NET's class `JsonWebKey` as it is publish null for members that the key lacks, and empty lists.
 * A DPoP proof has such a member in a key that its sender made, so there none is left out.
 */
export function withoutEmptyMembers(member: unknown): unknown {
  if (!isObject(member)) return member
  const filled = Object.entries(member).filter(
    ([name, value]) =>
      value !== null && !(LISTS.includes(name) && Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(filled)
}

/**
 * The key of one member of a JWK set, not imported yet, or why it must not verify a token. A
 * symmetric or private key that is published is not secret.
 */
export function readWrittenKey(member: unknown): WrittenKey | KeyFlaw {
  const jwk = readMember(member)
  if (typeof jwk === 'string') return jwk
  const parameters = MATERIAL.get(jwk.kty)
  if (parameters === undefined) return 'of an unknown type'
  const algorithms = algorithmsOf(jwk)
  if (algorithms.length === 0) return 'for no known algorithm'
  const material = Object.fromEntries(parameters.map((name) => [name, jwk[name]]))
  if (isOversized(material)) return 'too costly'
  return { kid: jwk.kid, algorithms, material }
}

export function importWrittenKey(written: WrittenKey): VerificationKey | KeyFlaw {
  const { kid, algorithms, material } = written
  const key = importKey(material)
  if (key === null) return 'malformed'
  if (isWeakKey(key)) return 'too weak'
  if (isCostlyKey(key)) return 'too costly'
  const fingerprint = JSON.stringify([kid, algorithms, material])
  return { kid, algorithms: new Set(algorithms), key, fingerprint }
}

/** The thumbprint of a key (RFC 7638 §3), by SHA-256: of its text alone. */
export function thumbprintOf({ material }: WrittenKey): string {
  const members = Object.entries(material).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify(Object.fromEntries(members)), 'base64url')
}

/**
 * Own members only, each of its type. `use` and `key_ops`, if present, must allow verifying (RFC
 * 7517 §4.2, §4.3).
 */
function readMember(member: unknown): Strings | KeyFlaw {
  if (typeof member !== 'object' || member === null) return 'malformed'
  const values = new Map<string, unknown>(
    Object.entries(member).filter(([, value]) => value !== undefined),
  )
  if (values.get('kty') === 'oct' || values.has('k')) return 'symmetric'
  if (PRIVATE.some((name) => values.has(name))) return 'private'
  if (values.get('use') === 'enc') return 'for encryption'
  if (values.has('use') && values.get('use') !== 'sig') return 'not for verifying'
  if (values.has('key_ops') && !allowsVerifying(values.get('key_ops'))) return 'not for verifying'
  const strings = STRINGS.filter((name) => values.has(name)).map((name) => [name, values.get(name)])
  if (!strings.every(([, value]) => typeof value === 'string')) return 'malformed'
  return Object.fromEntries(strings)
}

/** RFC 7517 §4.3: a list of strings, none of them twice. */
function allowsVerifying(operations: unknown): boolean {
  return (
    Array.isArray(operations) &&
    operations.every((operation) => typeof operation === 'string') &&
    new Set(operations).size === operations.length &&
    operations.includes('verify')
  )
}

/** RFC 7518 §3.3: a modulus of 2048 bits at least. */
const LEAST_MODULUS_LENGTH = 2048

/** FIPS 186-5 §A.1.1: an odd public exponent above 2^16. With 1, anybody signs. */
const LEAST_EXPONENT = 65_537n

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

/** True: a key, though well-formed, proves nothing or too little. */
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
    publicExponent % 2n === 0n
  )
}

function isOfSmallOrder(key: KeyObject): boolean {
  // The last 32 bytes of its SubjectPublicKeyInfo are the point (RFC 8410 §4).
  const point = key.export({ type: 'spki', format: 'der' }).subarray(-32)
  point.writeUInt8(point.readUInt8(31) & 0x7f, 31)
  return SMALL_ORDER.has(point.toString('hex'))
}

/**
 * The most that verifying with an RSA key may cost: as much as with 8192 bits and the usual
 * exponent, some eight times the cost of 2048 bits. It grows with the square of the modulus, and
 * with the length of the exponent. A modulus that fills no whole blocks of 512 bits costs twice that.
 */
const MOST = costOf(8192, 65_537n)

/**
 * True: verifying with a key costs so much that its issuer, and whoever sends forged tokens in its
 * name, could hold up all other requests. With 16384 bits and an exponent of 64 bits it costs a
 * hundred times as much as usual.
 */
export function isCostlyKey({ asymmetricKeyDetails = {} }: KeyObject): boolean {
  // A key of another type has no modulus, and costs little.
  const { modulusLength = 0, publicExponent = 0n } = asymmetricKeyDetails
  return costOf(modulusLength, publicExponent) > MOST
}

function costOf(modulusLength: number, publicExponent: bigint): number {
  const blocks = Math.ceil(modulusLength / 64) % 8 === 0 ? 1 : 2
  return blocks * modulusLength ** 2 * publicExponent.toString(2).length
}

/**
 * The cost of importing one key on a curve, in tenths of a millisecond: Node computes whether the
 * point is in the group. Any other key costs one, or less.
 */
const CURVE_COSTS: ReadonlyMap<string | undefined, number> = new Map([
  ['P-384', 7],
  ['P-521', 15],
])

/** Fifteen milliseconds, in one piece: 10 keys on P-521, 21 on P-384, or 100 of any other kind. */
const MOST_FOR_SET = 150

/**
 * True: importing all keys of a set would hold up all other requests.
 *
 * @param curves of each key; undefined: of one without a curve
 */
export function isCostlySet(curves: readonly (string | undefined)[]): boolean {
  const costs = curves.map((curve) => CURVE_COSTS.get(curve) ?? 1)
  return costs.reduce((sum, cost) => sum + cost, 0) > MOST_FOR_SET
}
