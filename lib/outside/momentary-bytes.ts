// Outside: Node's Buffers. Small ones share pieces of 8 KiB, and the collector has to free each
// piece: in a busy server that costs more than what the bytes are needed for.

/** Letters of a token, at the default of `maxTokenLength`. */
const ROOM = 16_384

/** Bytes that are needed for a moment, at one place. */
export class MomentaryBytes {
  readonly #room = Buffer.allocUnsafeSlow(ROOM)

  /** The letters of a text as Latin-1, until the next call. */
  of(text: string): Buffer {
    if (text.length > ROOM) return Buffer.from(text, 'latin1')
    return this.#room.subarray(0, this.#room.write(text, 'latin1'))
  }
}
