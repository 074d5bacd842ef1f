import * as channels from 'node:diagnostics_channel'
import { type ChannelListener, subscribe, unsubscribe } from 'node:diagnostics_channel'

/**
 * A stand-in for `node:diagnostics_channel`, whose subscriptions end with a test file. A program of
 * `lib/` that is loaded subscribes for the life of its process. A mutant of it would be told of the
 * applications of later tests too, and they would fail without a mutant of their own.
 */
export class HeardChannels {
  readonly #heard: [name: string | symbol, listener: ChannelListener][] = []

  /** What files of the repository import in the place of `node:diagnostics_channel`. */
  get exports() {
    return {
      ...channels,
      subscribe: (name: string | symbol, listener: ChannelListener): void => {
        this.#heard.push([name, listener])
        subscribe(name, listener)
      },
    }
  }

  /** Ends all subscriptions. */
  end(): void {
    for (const [name, listener] of this.#heard.splice(0)) unsubscribe(name, listener)
  }
}
