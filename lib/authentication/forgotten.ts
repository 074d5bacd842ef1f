import { isObject } from '../outside/is-object.ts'
import { isPlain } from '../outside/is-plain.ts'
import { ownCopy } from '../outside/own-copy.ts'
import type { TokenNames } from '../tokens/token-info.ts'

/**
 * Whose answers are forgotten: an issuer's, one user's, or, without members, everybody's. An
 * application that means everybody gives none.
 */
export interface Forgotten {
  /** The `iss` of the tokens; null: of those without one. */
  readonly issuer?: string | null
  /** The `sub` of the tokens. */
  readonly sub?: string
  /** Alone: what the option `tenants` has said of this tenant. */
  readonly tenant?: string
}

/** Without a prototype: what was not given is not there. */
export const EVERYBODY: Forgotten = ownCopy({})

const isText = (value: unknown) => typeof value === 'string'

const MEMBERS = new Map<string, (value: unknown) => boolean>([
  ['issuer', (value) => value === null || isText(value)],
  ['sub', isText],
  ['tenant', isText],
])

/**
 * What an application gave to be forgotten. A member that is missing by mistake must not mean
 * everybody, and one that is misspelt must not mean nobody.
 *
 * @throws TypeError
 */
export function readForgotten(what: unknown): Forgotten {
  // What a class or another object would have lent it were left out in silence.
  if (!isObject(what) || !isPlain(what)) {
    throw new TypeError('forget() takes a plain object with issuer and sub, or tenant')
  }
  const given = Object.getOwnPropertyNames(what).map((name) => [name, what[name]] as const)
  if (!given.every(([name, value]) => MEMBERS.get(name)?.(value))) {
    throw new TypeError('forget() takes issuer (a string or null) and sub, or tenant (strings)')
  }
  if (given.length > 1 && Object.hasOwn(what, 'tenant')) {
    throw new TypeError('forget() takes tenant alone')
  }
  return ownCopy(Object.fromEntries(given))
}

/** Whether it is one of those whose answers are forgotten. */
export function isForgotten(
  { issuer, sub }: Pick<TokenNames, 'issuer' | 'sub'>,
  what: Forgotten,
): boolean {
  return (
    (what.issuer === undefined || what.issuer === issuer) &&
    (what.sub === undefined || what.sub === sub)
  )
}
