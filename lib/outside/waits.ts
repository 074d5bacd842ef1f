// Outside: servers that hang, and functions of the application that never answer.

import type { NowOrLater } from './now-or-later.ts'

/**
 * What the requests of one application wait for. When it closes, each of them is refused at once,
 * because a server that closes waits for its requests.
 */
export class Waits {
  readonly #ends = new Set<() => void>()
  #isOver = false

  /**
   * What `pending` comes to; where the application closes before that, the error that `refuse`
   * makes. A value that is there already is not waited for.
   */
  for<T>(pending: Promise<T>, refuse: () => Error): Promise<T>
  for<T>(pending: NowOrLater<T>, refuse: () => Error): NowOrLater<T>
  for<T>(pending: NowOrLater<T>, refuse: () => Error): NowOrLater<T> {
    if (!(pending instanceof Promise)) return pending
    return new Promise((resolve, reject) => {
      const end = () => reject(refuse())
      if (this.#isOver) end()
      else this.#ends.add(end)
      pending.then(resolve, reject).finally(() => this.#ends.delete(end))
    })
  }

  /** Waits that begin from now on last again. */
  resume(): void {
    this.#isOver = false
  }

  /** Ends every wait, and each that begins later. */
  end(): void {
    this.#isOver = true
    for (const end of this.#ends) end()
    this.#ends.clear()
  }
}
