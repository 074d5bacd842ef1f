// Outside: those who choose texts. Texts of one hash would take each other's place in a table, and
// texts of one place would be passed one after another.

import { randomInt } from 'node:crypto'

/** A secret of this process, so that texts of one hash cannot be prepared. */
const SEED = randomInt(2 ** 31)

/**
 * A whole number of 32 bits, another one in each process: FNV-1a, and then mixed, since its low
 * bits know nothing of the high bits of a letter.
 *
 * @param from the place of the first letter that counts; below 0: all count
 */
export function textHash(text: string, from = 0): number {
  let hash = SEED
  for (let at = Math.max(0, from); at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return hash ^ (hash >>> 13)
}
