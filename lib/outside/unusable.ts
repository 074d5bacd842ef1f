// Outside: the words of other servers. They never get into a log.

import { isThrown } from './error-code.ts'

/** Why something from outside cannot be used, in constant words of ours. */
export class Unusable extends Error {}

/** What may be told of any error: our own words, or that there are none. */
export function reasonOf(error: unknown): string {
  return isThrown(error, Unusable) ? error.message : 'the answer cannot be used'
}
