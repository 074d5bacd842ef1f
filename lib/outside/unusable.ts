// Outside: the words of other servers. They never get into a log.

import { isThrown } from './error-code.ts'

/** Why something from outside cannot be used, in constant words of ours. */
export class Unusable extends Error {}

/** What may be told of any error: our own words, or that there are none. */
export function reasonOf(error: unknown): string {
  return isThrown(error, Unusable) ? error.message : 'the answer cannot be used'
}

/** A member that has another type than it should, or the whole, of another's answer. */
export function unexpected(what: string, expected: string, found: unknown): Unusable {
  return new Unusable(`${what}: expected ${expected}, found ${typeName(found)}`)
}

/** @throws Unusable */
export function readBoolean(answer: unknown): boolean {
  if (typeof answer === 'boolean') return answer
  throw unexpected('the answer', 'a boolean', answer)
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'a list' : typeof value
}
