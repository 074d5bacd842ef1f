import type { Attended } from '../outside/attended.ts'
import type { Exchanges } from './exchanges.ts'

/**
 * The services that use a function, which may be several. They are told of a failure once, and not
 * again before what has failed has worked. When the last one ends, the exchanges end with it.
 */
export class Attendance implements Attended {
  readonly #exchanges: Exchanges
  readonly #listeners: ((reason: string) => void)[] = []
  #services = 0
  #told: string | undefined

  constructor(exchanges: Exchanges) {
    this.#exchanges = exchanges
  }

  open(onFailure: (reason: string) => void): void {
    this.#services += 1
    this.#listeners.push(onFailure)
    // Who comes later is told too.
    this.#told = undefined
  }

  close(): void {
    this.#services -= 1
    if (this.#services > 0) return
    this.#listeners.length = 0
    this.#exchanges.end()
  }

  /** @param reason constant text */
  tell(reason: string): void {
    if (this.#told === reason) return
    this.#told = reason
    for (const listener of this.#listeners) listener(reason)
  }

  /** It works, so that the next failure is a new one. */
  forget(): void {
    this.#told = undefined
  }
}
