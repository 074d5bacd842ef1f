import type { KeyObject } from 'node:crypto'
import { algorithmsOf, importKey, isOversized } from './algorithms.ts'
import { isCostlyKey } from './costly-key.ts'
import { isWeakKey } from './weak-key.ts'

/** A public key that may verify tokens, ready for use. */
export interface VerificationKey {
  readonly kid: string | undefined
  readonly algorithms: ReadonlySet<string>
  readonly key: KeyObject
  /** Two keys are the same where their fingerprints are: material, `kid` and algorithms. */
  readonly fingerprint: string
}

/** Parameters of private keys (RFC 7518 §6.2.2, §6.3.2; RFC 8037 §2; RFC 9964). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'priv']

const STRINGS = ['kty', 'kid', 'alg', 'crv', 'n', 'e', 'x', 'y', 'pub'] as const

/** What a key of each type is made of, without what is said about it. */
const MATERIAL: ReadonlyMap<string | undefined, readonly (keyof Strings)[]> = new Map([
  ['RSA', ['kty', 'n', 'e']],
  ['EC', ['kty', 'crv', 'x', 'y']],
  ['OKP', ['kty', 'crv', 'x']],
  ['AKP', ['kty', 'alg', 'pub']],
])

type Strings = { readonly [name in (typeof STRINGS)[number]]?: string }

/** Why a member of a JWK set verifies no token. */
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
export interface WrittenKey {
  readonly kid: string | undefined
  readonly algorithms: readonly string[]
  readonly material: Strings
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
  if (isOversized(material)) return jwk.kty === 'RSA' ? 'too costly' : 'malformed'
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

/**
 * Own members only, each of its type. `use` and `key_ops`, where present, must allow verifying (RFC
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
