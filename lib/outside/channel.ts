// Outside: subscribers of our channels. They are code of the application, and may throw.

import { type ChannelListener, channel } from 'node:diagnostics_channel'
import { errorCode } from './error-code.ts'
import { isThenable } from './thenable.ts'

/**
 * A channel of `node:diagnostics_channel`. Node raises what a subscriber throws as an uncaught
 * exception, which ends the process. Here it is told by a warning of the process, once for each
 * subscriber, and changes nothing else. The same holds for a subscriber whose promise rejects.
 */
export class Channel<Message extends object> {
  readonly #channel: ReturnType<typeof channel>
  readonly #told = new WeakSet<ChannelListener>()

  constructor(name: string) {
    this.#channel = channel(name)
  }

  /** Whether a message would be heard. If not, making one is not worth it. */
  get hasSubscribers(): boolean {
    return this.#channel.hasSubscribers
  }

  publish(message: Message): void {
    const subscribers = subscribersOf(this.#channel)
    // A Node that keeps its subscribers elsewhere tells them in its own way.
    if (subscribers === undefined) this.#channel.publish(message)
    else for (const subscriber of subscribers) this.#tell(subscriber, message)
  }

  #tell(subscriber: ChannelListener, message: Message): void {
    const failed = (error: unknown) => this.#warn(subscriber, error)
    try {
      const answer: unknown = subscriber(message, this.#channel.name)
      if (isThenable(answer)) answer.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }

  /** What the error says itself may hold what was in the request. */
  #warn(subscriber: ChannelListener, error: unknown): void {
    if (this.#told.has(subscriber)) return
    this.#told.add(subscriber)
    process.emitWarning(
      `a subscriber of ${String(this.#channel.name)} failed (${errorCode(error)})`,
      { type: 'TenantAuthWarning', code: 'TENANT_AUTH_SUBSCRIBER_FAILED' },
    )
  }
}

/** Node replaces the list at each change of it, so that one is safe to walk. */
function subscribersOf(of: object): readonly ChannelListener[] | undefined {
  const listed: unknown = Reflect.get(of, '_subscribers')
  return Array.isArray(listed) && listed.every((each) => typeof each === 'function')
    ? listed
    : undefined
}
