/** Least bits for each text, so that of sixteen texts that were not added at most one passes. */
const ROOM = 16

/** Bytes, a power of two. */
const LEAST = 2048

/**
 * Tells of most texts that they were never added, by one look into little memory. A big Map lies
 * outside the caches of the processor, and each look into it waits for memory several times.
 */
export class Sieve {
  #bits = new DataView(new ArrayBuffer(LEAST))
  #added = 0

  /** Whether there is no room for one more: texts that were not added would pass too often. */
  get isFull(): boolean {
    return this.#added * ROOM >= this.#bits.byteLength * 8
  }

  add(text: string): void {
    const at = this.#placeOf(text)
    this.#bits.setUint8(at >>> 3, this.#bits.getUint8(at >>> 3) | (1 << (at & 7)))
    this.#added += 1
  }

  /** False: it was not added. */
  passes(text: string): boolean {
    const at = this.#placeOf(text)
    return (this.#bits.getUint8(at >>> 3) & (1 << (at & 7))) !== 0
  }

  /** Forgets all, and has room for twice as many texts as are added now. */
  refill(texts: Iterable<string>, size: number): void {
    let bytes = LEAST
    while (bytes * 8 < size * 2 * ROOM) bytes *= 2
    this.#bits = new DataView(new ArrayBuffer(bytes))
    this.#added = 0
    for (const text of texts) this.add(text)
  }

  /** By FNV-1a, with its high bits mixed into the low ones. */
  #placeOf(text: string): number {
    let hash = 0x811c9dc5
    for (let i = 0; i < text.length; i++) {
      hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
    }
    return (hash ^ (hash >>> 15)) & (this.#bits.byteLength * 8 - 1)
  }
}
