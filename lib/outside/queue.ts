// Outside: V8's Maps and Sets. To find its oldest entry, a Map steps over each place that was
// emptied before it. An iterator keeps alive what was in the Map when it stood still. Where things
// come and go, a Map makes one table after another, and each keeps the next one alive.

/** What can wait in one queue. */
export interface Queued<T> {
  older: T | undefined
  newer: T | undefined
}

/** Things in the order in which they came. Each step costs the same, however many there are. */
export class Queue<T extends Queued<T>> {
  #oldest: T | undefined
  #newest: T | undefined

  get oldest(): T | undefined {
    return this.#oldest
  }

  /** From the oldest to the newest. It ends early if the thing that it is at is deleted. */
  *[Symbol.iterator](): Generator<T, void> {
    for (let item = this.#oldest; item !== undefined; item = item.newer) yield item
  }

  /** @param item in no queue */
  add(item: T): void {
    item.older = this.#newest
    if (item.older === undefined) this.#oldest = item
    else item.older.newer = item
    this.#newest = item
  }

  /** @param item in this queue, or in none */
  delete(item: T): void {
    const { older, newer } = item
    if (older !== undefined) older.newer = newer
    else if (this.#oldest === item) this.#oldest = newer
    else return
    if (newer === undefined) this.#newest = older
    else newer.older = older
    item.older = undefined
    item.newer = undefined
  }
}
