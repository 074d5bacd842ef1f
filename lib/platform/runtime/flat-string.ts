// Outside: V8, for which a part of a string is a view that keeps the whole string alive; and
// Buffers of Node. Small ones share pieces of 8 KiB, and the collector has to free each piece: in a
// busy server that costs more than the work with the bytes.

/** Letters of a token, at the default of `maxTokenLength`. */
const ROOM = 16_384

/** The one place for bytes that are needed for a moment. */
const room = Buffer.allocUnsafeSlow(ROOM)

/**
 * A copy of a text, for storage. Without it, a token in a cache would keep its header alive, and a
 * tenant its URL. A text of Latin-1, as nearly all are, needs no Buffer of its own on the way.
 */
export function flatString(text: string): string {
  const narrow =
    text.length > ROOM
      ? Buffer.from(text, 'latin1').toString('latin1')
      : room.toString('latin1', 0, room.write(text, 'latin1'))
  return narrow === text ? narrow : Buffer.from(text, 'utf16le').toString('utf16le')
}
