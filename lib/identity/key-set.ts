import type { JoseHeader } from './jose-header.ts'
import { readKey, type VerificationKey } from './json-web-key.ts'
import { ownProperty } from './own-property.ts'

/** Most members that a JWK set may have. */
export const MAX_KEYS = 100

/** The usable keys of one JWK set (RFC 7517 §5), immutable. */
export class KeySet {
  readonly #byKid = new Map<string | undefined, VerificationKey[]>()
  readonly #all: readonly VerificationKey[]

  /** Two sets with the same fingerprint accept the same signatures. */
  readonly fingerprint: string

  /**
   * Takes the members that may verify tokens; the others are passed over, so that a bad one does not spoil the
   * good ones.
   *
   * @throws Error when it is no JWK set, has too many members, or none that may verify
   */
  constructor(jwks: unknown) {
    this.#all = readKeys(jwks)
    for (const key of this.#all) {
      const sameKid = this.#byKid.get(key.kid)
      if (sameKid) sameKid.push(key)
      else this.#byKid.set(key.kid, [key])
    }
    this.fingerprint = this.#all.map(({ fingerprint }) => fingerprint).join('\n')
  }

  /** The names of the keys; undefined for those without one. */
  get kids(): Iterable<string | undefined> {
    return this.#byKid.keys()
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

/** Each key once, in an order of its own, whatever the order of the members. */
function readKeys(jwks: unknown): readonly VerificationKey[] {
  const members = typeof jwks === 'object' && jwks !== null ? ownProperty(jwks, 'keys') : undefined
  if (!Array.isArray(members)) throw new Error('not a JWK set')
  if (members.length > MAX_KEYS) throw new Error('the JWK set has too many members')
  const keys = members.map(readKey).filter((key) => key !== null)
  if (keys.length === 0) throw new Error('the JWK set holds no usable key')
  const distinct = new Map(keys.map((key) => [key.fingerprint, key]))
  return [...distinct.values()].sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1))
}
