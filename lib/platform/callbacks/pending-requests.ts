import type { MaybePromise } from '../runtime/maybe-promise.ts'

// Outside: servers that hang, and functions of the application that never answer.

interface WaitLimit {
  readonly milliseconds: number
  late(): Error
  ended(): Error
  readonly keepsAlive: boolean
}

/**
 * The waits of one application's requests. A server that closes waits for its requests. So when the
 * application closes, each waiting request is refused at once.
 */
export class PendingRequests {
  readonly #open = new Set<() => void>()
  #isOver = false

  /** True: the application has closed, so none of its requests waits any more. */
  get isOver(): boolean {
    return this.#isOver
  }

  /**
   * The result of `pending`, or the error of `ended` if the application closes first. A value that
   * is there already is not waited for.
   */
  waitFor<T>(pending: Promise<T>, ended: () => Error): Promise<T>
  waitFor<T>(pending: MaybePromise<T>, ended: () => Error): MaybePromise<T>
  waitFor<T>(pending: MaybePromise<T>, ended: () => Error): MaybePromise<T> {
    if (!(pending instanceof Promise)) return pending
    return new Promise((resolve, reject) => {
      const end = () => reject(ended())
      if (this.#isOver) end()
      else this.#open.add(end)
      pending.then(resolve, reject).finally(() => this.#open.delete(end))
    })
  }

  /** `waitFor()`, for a limited time. */
  async waitWithin<T>(pending: Promise<T>, limit: WaitLimit): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(limit.late()), limit.milliseconds)
      if (!limit.keepsAlive) timer.unref()
    })
    try {
      return await this.waitFor(Promise.race([pending, late]), limit.ended)
    } finally {
      clearTimeout(timer)
    }
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
