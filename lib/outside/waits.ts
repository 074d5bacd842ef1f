// Outside: servers that hang, and functions of the application that never answer.

import type { NowOrLater } from './now-or-later.ts'
import { Queue, type Queued } from './queue.ts'

interface Wait extends Queued<Wait> {
  end(): void
}

/**
 * The waits of one application's requests. A server that closes waits for its requests. So when the
 * application closes, each waiting request is refused at once.
 */
export class Waits {
  readonly #open = new Queue<Wait>()
  #isOver = false

  /**
   * The result of `pending`. If the application closes first, it fails with the error that `refuse`
   * makes. A value that is there already is not waited for.
   */
  for<T>(pending: Promise<T>, refuse: () => Error): Promise<T>
  for<T>(pending: NowOrLater<T>, refuse: () => Error): NowOrLater<T>
  for<T>(pending: NowOrLater<T>, refuse: () => Error): NowOrLater<T> {
    if (!(pending instanceof Promise)) return pending
    return new Promise((resolve, reject) => {
      const wait: Wait = { end: () => reject(refuse()), older: undefined, newer: undefined }
      if (this.#isOver) wait.end()
      else this.#open.add(wait)
      pending.then(resolve, reject).finally(() => this.#open.delete(wait))
    })
  }

  /** From now on, new waits last again. */
  resume(): void {
    this.#isOver = false
  }

  /** Ends every wait. Until `resume()`, each new wait ends at once. */
  end(): void {
    this.#isOver = true
    for (let wait = this.#open.oldest; wait !== undefined; wait = this.#open.oldest) {
      this.#open.delete(wait)
      wait.end()
    }
  }
}
