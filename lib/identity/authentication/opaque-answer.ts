import { Unusable, unexpected } from '../../platform/http/failure.ts'
import { ignoreRejection } from '../../platform/runtime/maybe-promise.ts'
import {
  isObject,
  isPlain,
  isPlainMember,
  ownMember,
  ownProperty,
} from '../../platform/runtime/own-property.ts'
import { isOpaque } from '../jwt/compact-jws.ts'

/**
 * The application's answer about a token that is no JWT.
 *
 * - An object: its claims. They are checked as those of a JWT are.
 * - A string: a JWT in its place, which is verified as if it had come itself.
 * - `null`: the token is not valid. It is answered with 401.
 */
export type OpaqueAnswer = Readonly<Record<string, unknown>> | string | null

/**
 * Asks about a token that is no JWT. Called only for tokens in the characters of RFC
 * 6750 §2.1, of at most `maxTokenLength`.
 *
 * @throws anything if the question cannot be decided now, which is answered with 503
 */
export type OpaqueToken = (token: string) => GivenAnswer | Promise<GivenAnswer>

/** A row of the application's own type has no index signature. */
type GivenAnswer = OpaqueAnswer | { readonly sub: string }

const WRITTEN = 'an enumerable value that JSON has'

/** An answer as it is kept: a copy of claims, or a JWT. */
export type Answer = Record<string, unknown> | string | null

/**
 * A copy, since the application may change or share what it gave. A Map, or an object of a class,
 * must not count as claims without members, nor its rights as none.
 *
 * @throws Unusable, and what the application's object throws when it is read
 */
export function readAnswer(answer: unknown): Answer {
  if (answer === null) return null
  if (typeof answer === 'string') {
    if (!isOpaque(answer)) return answer
    throw new Unusable('the answer: expected claims, a JWT or null, found a string that is no JWT')
  }
  if (isObject(answer)) {
    checkPlain('the answer', answer)
    // A `toJSON` of its own may write another object.
    const toJSON = plainMember(answer, 'toJSON')
    if (typeof toJSON === 'function') throw unexpected('toJSON', 'no function', toJSON)
    for (const name of ['resources', 'cnf']) checkPlain(name, plainMember(answer, name))
  }
  const copy: unknown = JSON.parse(JSON.stringify(answer) ?? 'null')
  if (!isObject(copy)) throw unexpected('the answer', 'claims, a JWT or null', answer)
  checkConfirmation(ownMember(answer, 'cnf'), ownProperty(copy, 'cnf'))
  return copy
}

/** @throws Unusable if it is a getter, or not enumerable: the copy may have another value, or none */
function plainMember(answer: object, name: string): unknown {
  const property = Object.getOwnPropertyDescriptor(answer, name)
  if (property === undefined || isPlainMember(property)) return property?.value
  throw new Unusable(`${name}: expected ${WRITTEN}, found another one`)
}

/** @throws Unusable if it is an object that may hide what it holds */
function checkPlain(what: string, value: unknown): void {
  if (!isObject(value) || isPlain(value)) return
  ignoreRejection(value)
  throw new Unusable(`${what}: expected a plain object, found another one`)
}

/**
 * Without `cnf`, or without a member of it, a bound token would be a bearer token.
 *
 * @throws Unusable if the copy lacks what the application gave
 */
function checkConfirmation(given: unknown, copy: unknown): void {
  if (given === undefined) return
  if (copy === undefined) throw unexpected('cnf', WRITTEN, given)
  if (!isObject(given)) return
  for (const name of Reflect.ownKeys(given)) {
    const isKept = typeof name === 'string' && ownMember(copy, name) !== undefined
    if (!isKept) throw unexpected(`cnf, ${String(name)}`, WRITTEN, Reflect.get(given, name))
  }
}
