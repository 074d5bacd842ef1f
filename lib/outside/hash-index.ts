// Outside: V8's Maps. Where things come and go, a Map makes one table after another, and each keeps
// the next one alive. So what has gone outlives the collections of young objects. These collections
// then cost more than all look-ups.

/** What can stand in one index. */
export interface Indexed<T> {
  /** A whole number of 32 bits. */
  readonly hash: number
  /** The next one at the same place. */
  next: T | undefined
}

const LEAST_PLACES = 64

/** Things by their hashes. One that comes or goes leaves nothing behind. */
export class HashIndex<T extends Indexed<T>> {
  #places = placesFor<T>(LEAST_PLACES)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The first one of this hash. The others of this hash follow it, by `next`. */
  find(hash: number): T | undefined {
    let item = this.#places[this.#placeOf(hash)]
    while (item !== undefined && item.hash !== hash) item = item.next
    return item
  }

  /** @param item in no index */
  add(item: T): void {
    if (this.#size === this.#places.length) this.#grow()
    this.#put(item)
    this.#size += 1
  }

  /** @param item in this index, or in none */
  delete(item: T): void {
    const place = this.#placeOf(item.hash)
    let before: T | undefined
    let at = this.#places[place]
    while (at !== undefined && at !== item) {
      before = at
      at = at.next
    }
    if (at === undefined) return
    if (before === undefined) this.#places[place] = item.next
    else before.next = item.next
    item.next = undefined
    this.#size -= 1
  }

  #placeOf(hash: number): number {
    return hash & (this.#places.length - 1)
  }

  #put(item: T): void {
    const place = this.#placeOf(item.hash)
    item.next = this.#places[place]
    this.#places[place] = item
  }

  #grow(): void {
    const before = this.#places
    this.#places = placesFor(before.length * 2)
    for (const first of before) {
      let item = first
      while (item !== undefined) {
        const { next } = item
        this.#put(item)
        item = next
      }
    }
  }
}

function placesFor<T>(count: number): (T | undefined)[] {
  return new Array<T | undefined>(count).fill(undefined)
}
