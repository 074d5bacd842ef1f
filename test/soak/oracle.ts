import type { Span } from './history.ts'
import { type Identity, identitiesOf } from './identities.ts'
import { permittedIn } from './permitted-in.ts'
import type { Route } from './routes.ts'
import type { Token } from './token.ts'
import { NO_ANSWER } from './told-history.ts'
import { World } from './world.ts'

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

/** A status with the code of the refusal, or with what the handler has received. */
export type Verdict = string

/**
 * Every verdict that the contract (DESIGN.md, section 5) allows on a request. It is more than one
 * only where something that decides has changed within its window. Written by the contract alone:
 * it shares no code with the package.
 */
export function allowedVerdicts(ask: Ask, world: World, window: Window): Set<Verdict> {
  const { token } = ask
  if (token === null) return new Set(['401 ERR_AUTH_TOKEN_MISSING'])
  const patience = patienceOf(ask, world, window)
  const verdicts = identitiesOf(token, ask.process, world, window, patience).flatMap((identity) =>
    typeof identity === 'string' ? [identity] : verdictsOn(identity, ask, world, window),
  )
  return new Set(verdicts)
}

/** Milliseconds by which the process may have been late. */
function patienceOf(ask: Ask, world: World, { until }: Span): number {
  return world.processes[ask.process]?.stalls.before(until) ?? 0
}

/** A user who is authenticated: what it may do, unless it is revoked. */
function verdictsOn(identity: Identity, ask: Ask, world: World, window: Window): Verdict[] {
  const process = world.processes[ask.process]
  if (process === undefined) return []
  const patience = patienceOf(ask, world, window)
  const { claims } = identity
  const user = World.userKey({ issuer: claims.iss, sub: claims.sub })
  const told =
    process.rightsFrom === 'claims'
      ? [claims.resources ?? null]
      : process.rights.during(user, window, patience)
  const seen = world.revocations.seen(claims, ask.process, window, patience)
  return told.flatMap((resources) => {
    if (resources === NO_ANSWER) {
      // The contract does not say which of the two is asked first.
      const revoked = seen.mayBeRevoked ? ['401 ERR_AUTH_TOKEN_INVALID'] : []
      const stale = seen.mayBeStale ? ['503 ERR_AUTH_REVOCATION_UNAVAILABLE'] : []
      return ['503 ERR_AUTH_RESOURCES_UNAVAILABLE', ...revoked, ...stale]
    }
    if (seen.isRevoked) return ['401 ERR_AUTH_TOKEN_INVALID']
    return [
      ...(seen.mayBeRevoked ? ['401 ERR_AUTH_TOKEN_INVALID'] : []),
      ...(seen.mayBeStale ? ['503 ERR_AUTH_REVOCATION_UNAVAILABLE'] : []),
      ...(seen.mayNotAdmit
        ? []
        : permittedIn(ask, identity, resources ?? {}, world, window, patience)),
    ]
  })
}
