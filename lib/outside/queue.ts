// Outside: V8's Maps. To find its oldest entry, a Map steps over each place that was emptied before
// it; and an iterator keeps alive what was in the Map when it stood still.

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

  /** @param item in no queue */
  add(item: T): void {
    item.older = this.#newest
    if (item.older === undefined) this.#oldest = item
    else item.older.newer = item
    this.#newest = item
  }

  /** @param item in this queue */
  delete(item: T): void {
    const { older, newer } = item
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    item.older = undefined
    item.newer = undefined
  }
}
