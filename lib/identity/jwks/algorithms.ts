import {
  constants,
  createPublicKey,
  createVerify,
  type JsonWebKey,
  type JsonWebKeyInput,
  type KeyObject,
  verify,
} from 'node:crypto'
import { ownCopy } from '../../platform/runtime/own-property.ts'

/** One JWS algorithm (RFC 7518 §3.1, RFC 8037 §3.1, RFC 9864), and the keys that fit it. */
interface Algorithm {
  readonly kty: string
  readonly crv?: string
  readonly hash?: string
  readonly padding?: 'pss'
  /**
   * Bytes of a signature, if the algorithm rather than the key fixes it: another encoding of the
   * same (DER for ECDSA) is another token.
   */
  readonly signatureLength?: number
}

/** A further algorithm is one more row. Keys on a new curve have a cost, in `jwk.ts`. */
const KNOWN: readonly (readonly [name: string, algorithm: Algorithm])[] = [
  ['RS256', { kty: 'RSA', hash: 'sha256' }],
  ['RS384', { kty: 'RSA', hash: 'sha384' }],
  ['RS512', { kty: 'RSA', hash: 'sha512' }],
  ['PS256', { kty: 'RSA', hash: 'sha256', padding: 'pss' }],
  ['PS384', { kty: 'RSA', hash: 'sha384', padding: 'pss' }],
  ['PS512', { kty: 'RSA', hash: 'sha512', padding: 'pss' }],
  ['ES256', { kty: 'EC', crv: 'P-256', hash: 'sha256', signatureLength: 64 }],
  ['ES384', { kty: 'EC', crv: 'P-384', hash: 'sha384', signatureLength: 96 }],
  ['ES512', { kty: 'EC', crv: 'P-521', hash: 'sha512', signatureLength: 132 }],
  ['EdDSA', { kty: 'OKP', crv: 'Ed25519', signatureLength: 64 }],
  ['Ed25519', { kty: 'OKP', crv: 'Ed25519', signatureLength: 64 }],
  ['ML-DSA-44', { kty: 'AKP', signatureLength: 2420 }],
  ['ML-DSA-65', { kty: 'AKP', signatureLength: 3309 }],
  ['ML-DSA-87', { kty: 'AKP', signatureLength: 4627 }],
]

/**
 * Most bytes of the members of an RSA key. Node computes with what it imports: an exponent of 400
 * kB blocks the process for half a minute, a modulus of 300 kB for a tenth of a second. So the
 * length of the text is judged before anything reads it. Members of other keys cost little.
 */
const MOST_BYTES: readonly (readonly [name: string, bytes: number])[] = [
  // 8192 bits, with the zero before them that some servers write.
  ['n', 1025],
  // FIPS 186-5 §A.1.1: below 2^256.
  ['e', 32],
]

/** True: a member of a JWK is longer than that of any key that is used. */
export function isOversized(jwk: object): boolean {
  const members = new Map<string, unknown>(Object.entries(jwk))
  return MOST_BYTES.some(([name, most]) => {
    const value = members.get(name)
    return typeof value === 'string' && Buffer.byteLength(value, 'base64url') > most
  })
}

/**
 * The public key of a JWK, or what else is created of it; null if it is none. Node checks what it
 * imports: lengths, and that a point is on its curve.
 */
export function importKey(
  jwk: JsonWebKey,
  create: (input: JsonWebKeyInput) => KeyObject = createPublicKey,
): KeyObject | null {
  if (isOversized(jwk)) return null
  try {
    return create({ key: jwk, format: 'jwk' })
  } catch {
    return null
  }
}

const isMlDsaHere = hasMlDsa()

const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map(
  KNOWN.filter(([, { kty }]) => kty !== 'AKP' || isMlDsaHere).map(([name, algorithm]) => [
    name,
    ownCopy(algorithm),
  ]),
)

/** The names of the asymmetric JWS algorithms that this Node verifies. */
export const supportedAlgorithms: readonly string[] = Object.freeze([...ALGORITHMS.keys()])

/** Those of DPoP proofs. A proof with ML-DSA, its key and its signature, is longer than one may be. */
export const proofAlgorithms: readonly string[] = Object.freeze(
  supportedAlgorithms.filter((name) => !name.startsWith('ML-DSA')),
)

/**
 * The algorithms that a key of this type and curve can serve; `alg`, if the key names one,
 * leaves only that (RFC 7517 §4.4).
 */
export function algorithmsOf({ kty, crv, alg }: JsonWebKey): string[] {
  const fitting = [...ALGORITHMS].filter(([name, algorithm]) => {
    if (algorithm.kty !== kty || algorithm.crv !== crv) return false
    // A key of type AKP always names its algorithm (RFC 9964).
    return alg === undefined ? kty !== 'AKP' : alg === name
  })
  return fitting.map(([name]) => name)
}

/**
 * Synchronous on purpose: one verification costs less than the way to the thread pool and back, and
 * a guard without promises keeps requests in their order.
 */
export function verifySignature(
  name: string,
  key: KeyObject,
  input: string,
  signature: Buffer,
): boolean {
  const algorithm = ALGORITHMS.get(name)
  if (algorithm === undefined) return false
  const { hash, padding, signatureLength } = algorithm
  if (signature.length !== (signatureLength ?? modulusBytes(key))) return false
  try {
    const keyAndForm = { __proto__: null, key, ...(padding === 'pss' ? PSS : P1363) }
    // If there is a hash of its own, this is cheaper than `verify`, by a twentieth for RSA.
    if (hash !== undefined) return createVerify(hash).update(input).verify(keyAndForm, signature)
    return verify(hash, Buffer.from(input), keyAndForm, signature)
  } catch {
    return false
  }
}

/**
 * RFC 8017 §8.1.2, §8.2.2: a signature is as long as the modulus. OpenSSL takes one without its
 * leading zeros too.
 */
function modulusBytes(key: KeyObject): number {
  return Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8)
}

const PSS = {
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
} as const

/** RFC 7518 §3.4: of ECDSA; the other algorithms have one form only. */
const P1363 = { dsaEncoding: 'ieee-p1363' } as const

/**
 * Node 24.7 and later, and only if its OpenSSL has it. Asked by an import, since a question of
 * its own is experimental still, and warns.
 */
function hasMlDsa(): boolean {
  const pub = Buffer.alloc(1312).toString('base64url')
  return importKey({ kty: 'AKP', alg: 'ML-DSA-44', pub }) !== null
}
