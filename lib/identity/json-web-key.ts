import { KeyObject } from 'node:crypto'
import { importJWK, type JWK } from 'jose'
import { algorithmsOf } from './algorithms.ts'

/** A public key that may verify tokens, ready for use. */
export interface VerificationKey {
  readonly kid: string | undefined
  readonly algorithms: ReadonlySet<string>
  readonly key: KeyObject
  /** Two keys are the same where their fingerprints are: material, `kid` and algorithms. */
  readonly fingerprint: string
}

/** Parameters of private and symmetric keys (RFC 7518 §6.2.2, §6.3.2, §6.4; RFC 8037 §2; RFC 9964). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']

/** FIPS 186-5 §A.1.1: the public exponent is odd, above 2^16 and below 2^256; the modulus has 2048 bits at least (RFC 7518 §3.3). */
const LEAST_EXPONENT = 65_537n
const MOST_EXPONENT_BITS = 256
const LEAST_MODULUS_BITS = 2048

/** A member of a JWK set that may verify tokens, as far as can be told without importing it. */
export type PublicJwk = {
  readonly [name in (typeof STRINGS)[number]]?: string
} & {
  readonly kty: string
}

/**
 * One member of a JWK set, or null where it must not verify a token: not for signatures, of another type,
 * private or symmetric (then it is no secret of its owner any more), or weak.
 */
export function readKey(member: unknown): PublicJwk | null {
  const jwk = readMember(member)
  if (jwk === null || algorithmsOf(jwk).length === 0) return null
  return jwk.kty === 'RSA' && isWeak(jwk) ? null : jwk
}

/** The key itself, checked by jose; null where its material is no key. */
export async function importKey(jwk: PublicJwk): Promise<VerificationKey | null> {
  const algorithms = algorithmsOf(jwk)
  try {
    const imported = await importJWK(materialOf(jwk), algorithms[0])
    if (imported instanceof Uint8Array) return null
    return {
      kid: jwk.kid,
      algorithms: new Set(algorithms),
      key: KeyObject.from(imported),
      fingerprint: JSON.stringify([jwk.kid ?? null, algorithms, materialOf(jwk)]),
    }
  } catch {
    return null
  }
}

const STRINGS = ['kty', 'kid', 'alg', 'crv', 'n', 'e', 'x', 'y', 'pub'] as const

/** Own members only, each of its type. `use` and `key_ops`, where present, must allow verifying (RFC 7517 §4.2, §4.3). */
function readMember(member: unknown): PublicJwk | null {
  if (typeof member !== 'object' || member === null) return null
  const values = new Map<string, unknown>(Object.entries(member))
  if (PRIVATE.some((name) => values.has(name))) return null
  if (values.has('use') && values.get('use') !== 'sig') return null
  const operations = values.get('key_ops')
  if (values.has('key_ops') && !(Array.isArray(operations) && operations.includes('verify'))) {
    return null
  }
  const jwk: { [name in (typeof STRINGS)[number]]?: string } = {}
  for (const name of STRINGS) {
    const value = values.get(name)
    if (value === undefined) continue
    if (typeof value !== 'string') return null
    jwk[name] = value
  }
  const { kty } = jwk
  return kty === undefined ? null : { ...jwk, kty }
}

/** What the key is made of, without what is said about it. */
function materialOf({ kty, crv, n, e, x, y, pub, alg }: PublicJwk): JWK {
  if (kty === 'RSA') return { kty, ...(n && { n }), ...(e && { e }) }
  if (kty === 'AKP') return { kty, ...(pub && { pub }), ...(alg && { alg }) }
  return { kty, ...(crv && { crv }), ...(x && { x }), ...(y && { y }) }
}

function isWeak({ n = '', e = '' }: PublicJwk): boolean {
  const exponent = toInteger(e)
  return (
    bitLength(toInteger(n)) < LEAST_MODULUS_BITS ||
    exponent < LEAST_EXPONENT ||
    exponent % 2n === 0n ||
    bitLength(exponent) > MOST_EXPONENT_BITS
  )
}

/** RFC 7518 §2 Base64urlUInt. */
function toInteger(base64url: string): bigint {
  return BigInt(`0x0${Buffer.from(base64url, 'base64url').toString('hex')}`)
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length
}
