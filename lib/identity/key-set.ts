import type { JoseHeader } from './compact-jws.ts'
import { importKey, type PublicJwk, readKey, type VerificationKey } from './json-web-key.ts'
import { ownProperty } from './own-property.ts'

/** Most members that a JWK set may have. */
export const MAX_KEYS = 100

/** The usable keys of one JWK set (RFC 7517 §5), immutable. */
export class KeySet {
  readonly #byKid = new Map<string | undefined, VerificationKey[]>()
  readonly #all: readonly VerificationKey[]

  /** Two sets with the same fingerprint accept the same signatures. */
  readonly fingerprint: string

  private constructor(keys: readonly VerificationKey[]) {
    this.#all = keys
    for (const key of keys) {
      const sameKid = this.#byKid.get(key.kid)
      if (sameKid) sameKid.push(key)
      else this.#byKid.set(key.kid, [key])
    }
    this.fingerprint = keys.map((key) => key.fingerprint).join('\n')
  }

  /** @throws Error when none of the keys can be used */
  static async import(jwks: readonly PublicJwk[]): Promise<KeySet> {
    const distinct = new Map<string, VerificationKey>()
    for (const key of await Promise.all(jwks.map(importKey))) {
      if (key !== null) distinct.set(key.fingerprint, key)
    }
    if (distinct.size === 0) throw new Error('the JWK set holds no usable key')
    const keys = [...distinct.values()].sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))
    return new KeySet(keys)
  }

  /**
   * The one key that fits the header. `unknown`: the set has no such `kid`, or, without a `kid`, no key of
   * that kind; a newer set may have it. `unfit`: a key of that name for something else, or several that fit.
   */
  find({ kid, alg }: JoseHeader): VerificationKey | 'unknown' | 'unfit' {
    const named = kid === undefined ? this.#all : this.#byKid.get(kid)
    if (named === undefined) return 'unknown'
    const fitting = named.filter((key) => key.algorithms.has(alg))
    const [only] = fitting
    if (only === undefined) return kid === undefined ? 'unknown' : 'unfit'
    return fitting.length === 1 ? only : 'unfit'
  }
}

/**
 * The members of a JWK set that may verify tokens; the others are passed over, so that a bad one does not
 * spoil the good ones.
 *
 * @throws Error when it is no JWK set, has too many members, or none that may verify
 */
export function readKeys(jwks: unknown): readonly PublicJwk[] {
  const keys = typeof jwks === 'object' && jwks !== null ? ownProperty(jwks, 'keys') : undefined
  if (!Array.isArray(keys)) throw new Error('not a JWK set')
  if (keys.length > MAX_KEYS) throw new Error('the JWK set has too many members')
  const usable = keys.map(readKey).filter((key) => key !== null)
  if (usable.length === 0) throw new Error('the JWK set holds no usable key')
  return usable
}
