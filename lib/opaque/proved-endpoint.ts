import { BackOff } from '../outside/alarm.ts'
import { clock } from '../outside/clock.ts'
import { ignoreRejection } from '../outside/now-or-later.ts'
import type { IntrospectionEndpoint } from './introspection-endpoint.ts'
import { asOpaqueFailure, isBusy, OpaqueFailure } from './opaque-failure.ts'

/** Milliseconds after which an endpoint is looked for, and proved, anew. */
export const MAX_AGE = 3_600_000

/** Milliseconds for which it serves beyond that, while its issuer cannot be reached. */
export const MAX_STALE = 3_600_000

/** Seconds until an endpoint that is at fault is tried again. */
const REST = { retry: 1, retryMax: 30 }

export interface ProvedEndpointEvents {
  /** The endpoint itself is at fault: every token is refused until it has been proved. */
  onFault(failure: OpaqueFailure): void
  onProved(): void
}

/**
 * The endpoint that real tokens are sent to. It is proved before the first use, and each hour
 * again; one proof at a time, in the background where there is an endpoint. An endpoint that is
 * found at fault serves no more, and rests before the next proof.
 */
export class ProvedEndpoint {
  readonly #prove: () => Promise<IntrospectionEndpoint>
  readonly #events: ProvedEndpointEvents
  readonly #backOff = new BackOff(REST)
  #endpoint: IntrospectionEndpoint | undefined
  #failure = new OpaqueFailure('ERR_INTROSPECTION_NO_ANSWER')
  #running: Promise<IntrospectionEndpoint> | undefined
  // Readings of `clock`, in milliseconds.
  #provedAt = Number.NEGATIVE_INFINITY
  #dueAt = Number.NEGATIVE_INFINITY
  /** Until then nothing is asked. */
  #busyUntil = Number.NEGATIVE_INFINITY

  constructor(prove: () => Promise<IntrospectionEndpoint>, events: ProvedEndpointEvents) {
    this.#prove = prove
    this.#events = events
  }

  /** @throws OpaqueFailure */
  async get(): Promise<IntrospectionEndpoint> {
    const now = clock.now()
    if (this.#isResting) throw new OpaqueFailure('ERR_INTROSPECTION_BUSY')
    if (now >= this.#dueAt) ignoreRejection(this.proveAgain())
    if (this.#endpoint !== undefined && now - this.#provedAt < MAX_AGE + MAX_STALE) {
      return this.#endpoint
    }
    if (this.#running === undefined) throw this.#failure
    return this.#running
  }

  /** A proof that is under way, or begins. @throws OpaqueFailure */
  proveAgain(): Promise<IntrospectionEndpoint> {
    if (this.#isResting) return Promise.reject(new OpaqueFailure('ERR_INTROSPECTION_BUSY'))
    this.#running ??= this.#attempt().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** What many requests find together is found once. */
  get #isResting(): boolean {
    return clock.now() < this.#busyUntil
  }

  async #attempt(): Promise<IntrospectionEndpoint> {
    try {
      const endpoint = await this.#prove()
      this.#succeeded(endpoint)
      return endpoint
    } catch (error) {
      const failure = asOpaqueFailure(error)
      this.#failed(failure)
      throw failure
    }
  }

  #succeeded(endpoint: IntrospectionEndpoint): void {
    this.#endpoint = endpoint
    this.#provedAt = clock.now()
    this.#dueAt = this.#provedAt + MAX_AGE
    this.#backOff.reset()
    this.#events.onProved()
  }

  #failed(failure: OpaqueFailure): void {
    this.#failure = failure
    if (failure.isFault) this.#endpoint = undefined
    // An outage is not kept: where there is no endpoint, the next token asks again.
    const rests = failure.isFault || isBusy(failure) || this.#endpoint !== undefined
    this.#dueAt = clock.now() + (rests ? this.#backOff.next() : 0)
    if (isBusy(failure)) this.#busyUntil = this.#dueAt
    if (failure.isFault) this.#events.onFault(failure)
  }
}
