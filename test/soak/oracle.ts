import { NO_ANSWER } from './answer-history.ts'
import type { Span } from './history.ts'
import { type Identity, identitiesOf, logoutOf } from './identities.ts'
import { isRefusedToAll, permittedIn } from './permitted-in.ts'
import { declaredOf, LOGOUT_ROUTE, type Route } from './routes.ts'
import { REFUSAL_AGE, STORE_RECOVERY } from './settings.ts'
import type { Resources, Token } from './token.ts'
import { type ProcessWorld, World } from './world.ts'

/** A DPoP proof beside a token. */
export interface Proof {
  /** Whether all in it is right but for its time. */
  readonly isGood: boolean
  /** Whether the process has taken it before. */
  readonly isTaken: boolean
  /** Seconds since the epoch. */
  readonly iat: number
}

/** A request. */
export interface Ask {
  /** Who asks, in a word. */
  readonly persona: string
  /** The number of the process that is asked. */
  readonly process: number
  readonly route: Route
  /** The values at the tenant's place in the URL, or in the body; empty: there is none. */
  readonly tenants: readonly string[]
  /** What a check, or a requirement by the request, is to do. */
  readonly says: string
  /** Null: no credentials, or those of another scheme. */
  readonly token: Token | null
  /** Null: the scheme is Bearer. */
  readonly proof: Proof | null
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
 * Every verdict that the contract (DESIGN.md, sections 5 and 18 to 22) allows on a request. It is
 * more than one only where something that decides has changed within its window. Written by the
 * contract alone: it shares no code with the package.
 */
export function allowedVerdicts(ask: Ask, world: World, window: Window): Set<Verdict> {
  const process = world.processes[ask.process]
  if (process === undefined) throw new Error(`there is no process ${ask.process}`)
  const patience = process.stalls.before(window.until)
  const circumstances = { world, process, number: ask.process, window, patience }
  if (ask.route === LOGOUT_ROUTE) return new Set(logoutVerdicts(ask, circumstances))
  const { noauth = false, guests = false } = declaredOf(ask.route)
  if (noauth || (guests && ask.token === null)) {
    return new Set(permittedIn(ask, null, {}, circumstances))
  }
  if (ask.token === null) return new Set(['401 ERR_AUTH_TOKEN_MISSING'])
  const verdicts = identitiesOf(ask, ask.token, circumstances).flatMap((identity) =>
    typeof identity === 'string' ? [identity] : verdictsOn(identity, ask, circumstances),
  )
  return new Set(verdicts)
}

/** A user who is authenticated: what it may do, unless it is revoked. */
function verdictsOn(identity: Identity, ask: Ask, circumstances: Circumstances): Verdict[] {
  const { world, process, number, window, patience } = circumstances
  const { claims } = identity
  const seen = world.revocations.seen(claims, number, window, patience)
  const refusals = [
    ...(seen.mayBeRevoked ? ['401 ERR_AUTH_TOKEN_INVALID'] : []),
    ...(seen.mayBeStale ? ['503 ERR_AUTH_REVOCATION_UNAVAILABLE'] : []),
  ]
  return rightsOf(identity, process, window, patience).flatMap(({ resources, mayRefuse }) => {
    // The contract does not say which of the two is asked first.
    if (resources === NO_ANSWER) return ['503 ERR_AUTH_RESOURCES_UNAVAILABLE', ...refusals]
    if (seen.isRevoked) return ['401 ERR_AUTH_TOKEN_INVALID']
    if (seen.mayNotAdmit) return refusals
    const permitted = permittedIn(ask, identity, resources ?? {}, circumstances)
    const mayBe = (verdict: Verdict) => mayRefuse || !hangsOnRights(verdict, ask)
    return [...refusals, ...permitted.filter(mayBe)]
  })
}

const FORBIDDEN = '403 ERR_AUTH_TENANT_FORBIDDEN'
const MISSING = '403 ERR_AUTH_RESOURCE_MISSING'

/** A refusal for want of a right, or a guest who would be a user by it. */
function hangsOnRights(verdict: Verdict, ask: Ask): boolean {
  if (verdict === MISSING) return !isRefusedToAll(ask)
  return verdict === FORBIDDEN || verdict.includes('"sub":null')
}

/** Rights that may count, and whether they are young enough to refuse a request. */
function rightsOf(
  { claims }: Identity,
  { rightsFrom, rights }: ProcessWorld,
  window: Window,
  patience: number,
): { readonly resources: Resources | null | typeof NO_ANSWER; readonly mayRefuse: boolean }[] {
  if (rightsFrom === 'claims') return [{ resources: claims.resources ?? null, mayRefuse: true }]
  const user = World.userKey({ issuer: claims.iss, sub: claims.sub })
  const young = rights.during(user, window, patience, REFUSAL_AGE)
  // Where there was no newer answer, the refusal stands, and that for a while.
  const isFaulty = rights.mayHaveFailed(window, REFUSAL_AGE * 1000 + patience)
  return rights
    .during(user, window, patience)
    .map((resources) => ({ resources, mayRefuse: isFaulty || young.includes(resources) }))
}

/** Section 20. */
function logoutVerdicts(ask: Ask, circumstances: Circumstances): Verdict[] {
  const { world, window, patience } = circumstances
  const by = window.from - STORE_RECOVERY * 1000 - patience
  const isKept = patience === 0 && world.store.wasWell(by, window.until)
  return logoutOf(ask.token, circumstances).flatMap((found) => {
    if (found !== 'proved') return [found]
    return isKept ? ['200 logged out'] : ['200 logged out', '503 temporarily_unavailable']
  })
}
