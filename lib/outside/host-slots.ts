// Outside: hosts that hang, each of which may hold the documents of hundreds.

import { Slots } from './slots.ts'

/**
 * Places for work that asks other hosts. No host gets more than its part, so that one that hangs
 * leaves places for all others.
 */
export class HostSlots {
  readonly #most: number
  readonly #all: Slots
  /** Of the hosts that are asked now. */
  readonly #hosts = new Map<string, { readonly slots: Slots; users: number }>()

  /** @param most places for one host at once, of `all` */
  constructor(most: number, all: Slots) {
    this.#most = most
    this.#all = all
  }

  /**
   * As `Slots.run`, for work that asks this address.
   *
   * @throws Unusable when there was no place in time, and what `work` throws
   */
  async run<T>(url: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const name = URL.canParse(url) ? new URL(url).host : url
    const host = this.#hosts.get(name) ?? { slots: new Slots(this.#most, this.#all), users: 0 }
    this.#hosts.set(name, host)
    host.users += 1
    try {
      return await host.slots.run(work, signal)
    } finally {
      host.users -= 1
      if (host.users === 0) this.#hosts.delete(name)
    }
  }
}
