// Outside: those who choose texts. Texts of one place in a table are passed one after another.

import { randomFillSync } from 'node:crypto'

const LETTERS = 2 ** 16
const BYTES = 4

/**
 * A secret number of this process for each letter. A secret seed is too little: two texts can be
 * prepared that have one hash with every eighth seed, where letters count by their own numbers.
 */
const SECRETS = randomFillSync(new DataView(new ArrayBuffer(BYTES * LETTERS)))

/**
 * A whole number of 32 bits, another one in each process: FNV-1a, and then folded, since its low
 * bits know nothing of the high bits of a letter's number.
 *
 * @param from the place of the first letter that counts; below 0: all count
 */
export function textHash(text: string, from = 0): number {
  let hash = 0
  for (let at = Math.max(0, from); at < text.length; at++) {
    const secret = SECRETS.getInt32(BYTES * text.charCodeAt(at))
    hash = Math.imul(hash ^ secret, 0x01000193)
  }
  return hash ^ (hash >>> 16)
}
