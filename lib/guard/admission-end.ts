import { ERR_AUTH_TOKEN_INVALID } from '../errors.ts'
import { Alarm } from '../outside/alarm.ts'
import { clock } from '../outside/clock.ts'
import { withoutStack } from '../outside/without-stack.ts'
import { tokenInfo } from '../tokens/token-info.ts'
import type { Access } from './decision.ts'

/** Milliseconds between two looks at the wall clock, which may be set. */
const LOOK_EVERY = 60_000

/** Ends a signal when its request would not be let through any more. */
export class AdmissionEnd {
  readonly #controller = new AbortController()
  readonly #alarm = new Alarm(() => this.#look())
  /** Milliseconds since the epoch. */
  readonly #endsAt: number
  readonly #unwatch: (() => void) | undefined

  constructor({ asked, authorization }: Access) {
    const { clockTolerance, watchRevocation } = asked.rules
    this.#endsAt = authorization.expiresAt.getTime() + clockTolerance * 1000
    this.#look()
    // In dev mode there is no token.
    if (asked.verified === null || this.signal.aborted) return
    const { names, lifetime } = asked.verified
    const token = tokenInfo(names, lifetime)
    this.#unwatch = watchRevocation?.(token, () => this.#end('revoked'))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The end is not waited for any more. */
  letGo(): void {
    this.#alarm.stop()
    this.#unwatch?.()
  }

  #look(): void {
    const left = this.#endsAt - Date.now()
    if (left <= 0) this.#end('expired')
    else this.#alarm.set(clock.now() + Math.min(left, LOOK_EVERY))
  }

  #end(reason: string): void {
    this.letGo()
    this.#controller.abort(withoutStack(() => new ERR_AUTH_TOKEN_INVALID(reason)))
  }
}
