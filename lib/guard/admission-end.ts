import { ERR_AUTH_TOKEN_INVALID } from '../errors.ts'
import { Alarm } from '../outside/alarm.ts'
import { clock } from '../outside/clock.ts'
import { withoutStack } from '../outside/without-stack.ts'
import { refusedLifetime } from '../tokens/registered-claims.ts'
import { tokenInfo } from '../tokens/token-info.ts'
import { underContextOf } from './async-context.ts'
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
  readonly #access: Access

  constructor(access: Access) {
    const { asked } = access
    this.#access = access
    this.#endsAt = endOf(access)
    this.#look()
    // In dev mode there is no token.
    if (asked.verified === null || this.signal.aborted) return
    const { names, lifetime, isOpaque } = asked.verified
    const token = tokenInfo(names, lifetime, isOpaque)
    this.#unwatch = asked.rules.watchRevocation?.(token, () => this.#end('revoked'))
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
    const error = withoutStack(() => new ERR_AUTH_TOKEN_INVALID(reason))
    // Who adds an entry to a deny list runs as somebody else.
    underContextOf(this.#access, () => this.#controller.abort(error))
  }
}

/**
 * Whether a request that was let through has outlived its token, as far as that can be told at
 * once: by the time of the token, and by a deny list that is `isRevoked`. True, too, if the list
 * cannot tell.
 */
export function hasEnded(access: Access): boolean {
  const { verified, principal, rules } = access.asked
  // In dev mode there is no token.
  if (verified === null || principal === null) return false
  const { names, lifetime, isOpaque } = verified
  if (refusedLifetime(lifetime, rules.clockTolerance) !== undefined) return true
  // An opaque token without `exp` lives as long as its answer counts.
  if (lifetime.exp === undefined && endOf(access) <= Date.now()) return true
  try {
    // A deny list looks at the token alone, so that the user info need not be made for it.
    return rules.denies?.({ sub: principal.sub }, tokenInfo(names, lifetime, isOpaque)) ?? false
  } catch {
    return true
  }
}

/**
 * Milliseconds since the epoch. The tolerance is for the clock that `exp` was read from: the age of
 * an answer is measured here.
 */
function endOf({ asked, authorization }: Access): number {
  const { verified, rules } = asked
  const tolerance = verified?.lifetime.exp === undefined ? 0 : rules.clockTolerance
  return authorization.expiresAt.getTime() + tolerance * 1000
}
