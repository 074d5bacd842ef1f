import { isObject } from '../outside/is-object.ts'

/** Whose answers are forgotten: an issuer's, one user's, or, without members, everybody's. */
export interface Forgotten {
  /** The `iss` of the tokens. */
  readonly issuer?: string
  /** The `sub` of the tokens. */
  readonly sub?: string
}

const MEMBERS = ['issuer', 'sub']

/**
 * What an application gave to be forgotten. A member that is missing by mistake must not mean
 * everybody, and one that is misspelt must not mean nobody.
 *
 * @throws TypeError
 */
export function readForgotten(what: unknown): Forgotten {
  if (!isObject(what)) throw new TypeError('forget() takes an object with issuer and sub')
  const given = Object.getOwnPropertyNames(what).map((name) => [name, what[name]] as const)
  if (given.every(([name, value]) => MEMBERS.includes(name) && typeof value === 'string')) {
    return Object.fromEntries(given)
  }
  throw new TypeError('forget() takes issuer and sub, each a string')
}
