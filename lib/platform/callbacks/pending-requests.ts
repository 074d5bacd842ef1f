import type { MaybePromise } from '../runtime/maybe-promise.ts'

// Outside: servers that hang, and functions of the application that never answer.

/**
 * The waits of one application's requests. A server that closes waits for its requests. So when the
 * application closes, each waiting request is refused at once.
 */
export class PendingRequests {
  readonly #open = new Set<() => void>()
  #isOver = false

  /** Whether the application has closed, so that none of its requests waits any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /**
   * The result of `pending`. If the application closes first, it fails with the error that `refuse`
   * makes. A value that is there already is not waited for.
   */
  waitFor<T>(pending: Promise<T>, refuse: () => Error): Promise<T>
  waitFor<T>(pending: MaybePromise<T>, refuse: () => Error): MaybePromise<T>
  waitFor<T>(pending: MaybePromise<T>, refuse: () => Error): MaybePromise<T> {
    if (!(pending instanceof Promise)) return pending
    return new Promise((resolve, reject) => {
      const end = () => reject(refuse())
      if (this.#isOver) end()
      else this.#open.add(end)
      pending.then(resolve, reject).finally(() => this.#open.delete(end))
    })
  }

  /** Accepts waits again after `end()`. */
  resume(): void {
    this.#isOver = false
  }

  /** Ends every wait. Until `resume()`, each new wait ends at once. */
  end(): void {
    this.#isOver = true
    for (const end of this.#open) {
      this.#open.delete(end)
      end()
    }
  }
}
