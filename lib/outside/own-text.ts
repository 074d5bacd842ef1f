// Outside: V8. For V8 a part of a string is a view, which keeps the whole string alive.

import { MomentaryBytes } from './momentary-bytes.ts'

const bytes = new MomentaryBytes()

/**
 * A copy of a text, for keeping. Without it, a kept token would keep its header alive, and a kept
 * tenant its URL. A text of Latin-1, as nearly all are, needs no Buffer of its own on the way.
 */
export function ownText(text: string): string {
  const narrow = bytes.of(text).toString('latin1')
  return narrow === text ? narrow : Buffer.from(text, 'utf16le').toString('utf16le')
}
