import type { KeyObject } from 'node:crypto'
import { algorithmsOf } from './algorithms.ts'
import { importKey } from './import-key.ts'
import { isWeakKey } from './weak-key.ts'

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

const STRINGS = ['kty', 'kid', 'alg', 'crv', 'n', 'e', 'x', 'y', 'pub'] as const

/** What a key of each type is made of, without what is said about it. */
const MATERIAL: ReadonlyMap<string | undefined, readonly (keyof Strings)[]> = new Map([
  ['RSA', ['kty', 'n', 'e']],
  ['EC', ['kty', 'crv', 'x', 'y']],
  ['OKP', ['kty', 'crv', 'x']],
  ['AKP', ['kty', 'alg', 'pub']],
])

type Strings = { readonly [name in (typeof STRINGS)[number]]?: string }

/**
 * The key of one member of a JWK set, or null where it must not verify a token: not for signatures, of another type,
 * private or symmetric (then it is no secret of its owner any more), weak, or no key at all.
 */
export function readKey(member: unknown): VerificationKey | null {
  const jwk = readMember(member)
  const parameters = MATERIAL.get(jwk?.kty)
  if (jwk === null || parameters === undefined) return null
  const algorithms = algorithmsOf(jwk)
  if (algorithms.length === 0) return null
  const material = Object.fromEntries(
    parameters.flatMap((name) => (name in jwk ? [[name, jwk[name]]] : [])),
  )
  const key = importKey(material)
  if (key === null || isWeakKey(key)) return null
  return {
    kid: jwk.kid,
    algorithms: new Set(algorithms),
    key,
    fingerprint: JSON.stringify([jwk.kid ?? null, algorithms, material]),
  }
}

/** Own members only, each of its type. `use` and `key_ops`, where present, must allow verifying (RFC 7517 §4.2, §4.3). */
function readMember(member: unknown): Strings | null {
  if (typeof member !== 'object' || member === null) return null
  const values = new Map<string, unknown>(
    Object.entries(member).filter(([, value]) => value !== undefined),
  )
  if (PRIVATE.some((name) => values.has(name))) return null
  if (values.has('use') && values.get('use') !== 'sig') return null
  if (values.has('key_ops') && !allowsVerifying(values.get('key_ops'))) return null
  const strings = STRINGS.filter((name) => values.has(name)).map((name) => [name, values.get(name)])
  if (!strings.every(([, value]) => typeof value === 'string')) return null
  return Object.fromEntries(strings)
}

function allowsVerifying(operations: unknown): boolean {
  return Array.isArray(operations) && operations.includes('verify')
}
