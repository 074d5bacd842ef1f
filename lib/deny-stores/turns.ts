/**
 * One piece of work at a time. A client that is offline keeps each command until it is back: they
 * must not pile up. One more may wait, which the next one takes the place of: it was given up.
 */
export class Turns {
  #isTaken = false
  #next: (() => void) | undefined

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isTaken) {
      await new Promise<void>((resolve) => {
        this.#next = resolve
      })
    }
    this.#isTaken = true
    try {
      return await work()
    } finally {
      const next = this.#next
      this.#next = undefined
      this.#isTaken = next !== undefined
      next?.()
    }
  }
}
