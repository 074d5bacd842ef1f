import type { Span } from './history.ts'
import { type Identity, identitiesOf } from './identities.ts'
import { permittedIn } from './permitted-in.ts'
import type { Route } from './routes.ts'
import type { Token } from './token.ts'
import { NO_ANSWER } from './told-history.ts'
import { type ProcessWorld, World } from './world.ts'

/** A request. */
export interface Ask {
  /** Who asks, in a word. */
  readonly persona: string
  /** The number of the process that is asked. */
  readonly process: number
  readonly route: Route
  /** The values at the tenant's place in the URL; empty: there is none. */
  readonly tenants: readonly string[]
  /** Null: no credentials, or those of another scheme. */
  readonly token: Token | null
}

/** When a request was on its way, by both clocks. */
export interface Window extends Span {
  /** Milliseconds since the epoch. */
  readonly wall: Span
}

/** What a verdict depends on, apart from the request itself. */
export interface Circumstances {
  readonly world: World
  /** Those of the process that was asked. */
  readonly process: ProcessWorld
  readonly number: number
  readonly window: Window
  /** Milliseconds by which the process may have been late. */
  readonly patience: number
}

/** A status with the code of the refusal, or with what the handler has received. */
export type Verdict = string

/**
 * Every verdict that the contract (DESIGN.md, section 5) allows on a request. It is more than one
 * only where something that decides has changed within its window. Written by the contract alone:
 * it shares no code with the package.
 */
export function allowedVerdicts(ask: Ask, world: World, window: Window): Set<Verdict> {
  const process = world.processes[ask.process]
  if (process === undefined) throw new Error(`there is no process ${ask.process}`)
  if (ask.token === null) return new Set(['401 ERR_AUTH_TOKEN_MISSING'])
  const patience = process.stalls.before(window.until)
  const circumstances = { world, process, number: ask.process, window, patience }
  const verdicts = identitiesOf(ask.token, circumstances).flatMap((identity) =>
    typeof identity === 'string' ? [identity] : verdictsOn(identity, ask, circumstances),
  )
  return new Set(verdicts)
}

/** A user who is authenticated: what it may do, unless it is revoked. */
function verdictsOn(identity: Identity, ask: Ask, circumstances: Circumstances): Verdict[] {
  const { world, process, number, window, patience } = circumstances
  const { claims } = identity
  const user = World.userKey({ issuer: claims.iss, sub: claims.sub })
  const told =
    process.rightsFrom === 'claims'
      ? [claims.resources ?? null]
      : process.rights.during(user, window, patience)
  const seen = world.revocations.seen(claims, number, window, patience)
  const refusals = [
    ...(seen.mayBeRevoked ? ['401 ERR_AUTH_TOKEN_INVALID'] : []),
    ...(seen.mayBeStale ? ['503 ERR_AUTH_REVOCATION_UNAVAILABLE'] : []),
  ]
  return told.flatMap((resources) => {
    // The contract does not say which of the two is asked first.
    if (resources === NO_ANSWER) return ['503 ERR_AUTH_RESOURCES_UNAVAILABLE', ...refusals]
    if (seen.isRevoked) return ['401 ERR_AUTH_TOKEN_INVALID']
    if (seen.mayNotAdmit) return refusals
    return [...refusals, ...permittedIn(ask, identity, resources ?? {}, circumstances)]
  })
}
