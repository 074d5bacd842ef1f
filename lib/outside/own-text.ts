// Outside: V8. For V8 a part of a string is a view, which keeps the whole string alive.

import { MomentaryBytes } from './momentary-bytes.ts'

const bytes = new MomentaryBytes()

/**
 * A copy of a text, for keeping. Without it, a kept token would keep its header alive, and a kept
 * tenant its URL. It takes one byte for each letter where no letter needs more, and otherwise two,
 * as strings do.
 */
export function ownText(text: string): string {
  const narrow = bytes.of(text).toString('latin1')
  return narrow === text ? narrow : Buffer.from(text, 'utf16le').toString('utf16le')
}
