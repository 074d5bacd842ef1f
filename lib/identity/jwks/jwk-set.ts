import { Unusable } from '../../platform/http/failure.ts'
import { redactUrl } from '../../platform/http/urls.ts'
import { isObject, ownMember, ownProperty } from '../../platform/runtime/own-property.ts'
import {
  importWrittenKey,
  isCostlySet,
  type KeyFlaw,
  readWrittenKey,
  type VerificationKey,
  withoutEmptyMembers,
} from './jwk.ts'

/** Most members that a JWK set may have. */
export const MAX_KEYS = 100

/** The part of a token's header that chooses its key (RFC 7515 §4.1.1, §4.1.4). */
interface KeyChoice {
  readonly alg: string
  readonly kid: string | undefined
}

/** The usable keys of one JWK set (RFC 7517 §5), immutable. */
export class KeySet {
  readonly #byKid = new Map<string | undefined, VerificationKey[]>()
  readonly #all: readonly VerificationKey[]

  /** Two sets with the same fingerprint accept the same signatures. */
  readonly fingerprint: string

  /** The names of the keys; undefined for those without one. */
  readonly kids: readonly (string | undefined)[]

  /** @param keys each once, in an order that does not depend on that of the set */
  constructor(keys: readonly VerificationKey[]) {
    this.#all = keys
    for (const key of keys) {
      const sameKid = this.#byKid.get(key.kid)
      if (sameKid) sameKid.push(key)
      else this.#byKid.set(key.kid, [key])
    }
    this.kids = Object.freeze([...this.#byKid.keys()])
    this.fingerprint = keys.map(({ fingerprint }) => fingerprint).join('\n')
    Object.freeze(this)
  }

  /** The keys that came and went since another set. One that was replaced is in both. */
  changesSince(before: KeySet): KeyChanges {
    return { added: namesBeyond(before, this.#all), removed: namesBeyond(this, before.#all) }
  }

  has({ fingerprint }: VerificationKey): boolean {
    return this.#all.some((key) => key.fingerprint === fingerprint)
  }

  /**
   * The one key that fits the header. `unknown`: the set has no such `kid`, or, without a `kid`, no
   * key of that kind; a newer set may have it. `unfit`: a key of that name for something else, or
   * several that fit. Servers publish a key twice: under two names, or once without `alg`.
   */
  find({ kid, alg }: KeyChoice): VerificationKey | 'unknown' | 'unfit' {
    const named = kid === undefined ? this.#all : this.#byKid.get(kid)
    if (named === undefined) return 'unknown'
    let only: VerificationKey | undefined
    for (const key of named) {
      if (!key.algorithms.has(alg)) continue
      if (only !== undefined && !only.key.equals(key.key)) return 'unfit'
      only = key
    }
    return only ?? (kid === undefined ? 'unknown' : 'unfit')
  }
}

/** The set of an application that takes no JWT. It verifies nothing. */
export const NO_KEYS = new KeySet([])

/**
 * The keys of a JWK set that may verify tokens. Other members are passed over, so that a bad one
 * does not spoil the good ones.
 *
 * @throws Unusable when it is no JWK set, has too many members, costs too much, or has none that may
 * verify; the message says why
 */
export function readKeySet(jwks: unknown): KeySet {
  const read = readMembers(jwks)
  const keys = read.filter((key) => typeof key === 'object')
  if (keys.length === 0) throw new Unusable(withoutKeys(read))
  const distinct = new Map(keys.map((key) => [key.fingerprint, key]))
  return new KeySet([...distinct.values()].sort((a, b) => (a.fingerprint < b.fingerprint ? -1 : 1)))
}

/**
 * The key of each member of a JWK set, or why it verifies nothing. No member is imported before the
 * whole set has been judged by its text.
 *
 * @throws Unusable when it is no JWK set, has too many members, or costs too much
 */
export function readMembers(jwks: unknown): readonly (VerificationKey | KeyFlaw)[] {
  const members = ownMember(jwks, 'keys')
  if (!Array.isArray(members)) throw new Unusable(inPlaceOfSet(jwks))
  if (members.length > MAX_KEYS) throw new Unusable('the JWK set has too many members')
  const written = members.map((member) => readWrittenKey(withoutEmptyMembers(member)))
  const keys = written.filter((key) => typeof key === 'object')
  if (isCostlySet(keys.map(({ material }) => material.crv))) {
    throw new Unusable('the JWK set is too costly')
  }
  return written.map((key) => (typeof key === 'string' ? key : importWrittenKey(key)))
}

/** The kind of a document that is no JWK set, for common mistakes with addresses. */
function inPlaceOfSet(value: unknown): string {
  if (Array.isArray(value)) return 'this is a list; a JWK set is an object whose "keys" is the list'
  if (!isObject(value)) return 'not a JWK set'
  if (Object.hasOwn(value, 'kty')) return 'this is a single key; a JWK set has it in its list keys'
  if (!Object.hasOwn(value, 'jwks_uri')) return 'not a JWK set'
  const address = redactUrl(ownProperty(value, 'jwks_uri'))
  return address === null
    ? 'this is a discovery document, not a JWK set'
    : `this is a discovery document; its jwks_uri is ${address}`
}

/** The number of members, and of those with each flaw. */
function withoutKeys(flaws: readonly unknown[]): string {
  const kinds = [...new Set(flaws)].map((kind) => {
    return `${flaws.filter((flaw) => flaw === kind).length} ${kind}`
  })
  const members = flaws.length === 1 ? '1 member' : `${flaws.length} members`
  return [`no usable key: ${members}`, ...(kinds.length > 0 ? [kinds.join(', ')] : [])].join(': ')
}

/** The beginning of the name of each key of a test authority. */
export const TEST_KEY_NAME = 'fastify-tenant-auth-test-'

/** True: keys are those of a test authority, which signs what anybody asks for. */
export function areTestKeys({ kids }: KeySet): boolean {
  return kids.some((kid) => kid?.startsWith(TEST_KEY_NAME))
}

/** The names of keys, at most 20 of each; those of keys without one are left out. */
export interface KeyChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** Most names of keys that came, and that went. */
const MOST_NAMES = 20

/** The names of the keys that a set lacks. */
function namesBeyond(set: KeySet, keys: readonly VerificationKey[]): readonly string[] {
  const names = keys.filter((key) => !set.has(key)).map(({ kid }) => kid)
  const given = names.filter((name) => name !== undefined)
  return Object.freeze([...new Set(given)].slice(0, MOST_NAMES))
}
