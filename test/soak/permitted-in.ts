import { NO_ANSWER } from './answer-history.ts'
import { clockOf, type Identity } from './identities.ts'
import type { Ask, Circumstances, Verdict } from './oracle.ts'
import { CALL, type Declared, declaredOf } from './routes.ts'
import { IMPLIES, SUPERUSER, TIMES } from './settings.ts'
import type { Claims, Resources } from './token.ts'

/** What a handler receives, as the applications report it. */
export interface Received {
  readonly tenant: string | null
  /** Null: a guest, or the route is open. */
  readonly sub: string | null
  readonly issuer: string | null
  /** Sorted. */
  readonly resources: readonly string[]
  readonly suspended: boolean
}

/** The verdict of a handler that has run. */
export function admitted({ tenant, sub, issuer, resources, suspended }: Received): Verdict {
  return `200 ${JSON.stringify({ tenant, sub, issuer, resources, suspended })}`
}

const GUEST = { sub: null, issuer: null, resources: [], suspended: false }

/**
 * The verdicts on a user with these rights: of the tenant, its existence and state, the
 * requirement, the login and the check.
 *
 * @param identity null: a guest, or nobody is asked for
 */
export function permittedIn(
  ask: Ask,
  identity: Identity | null,
  granted: Resources,
  circumstances: Circumstances,
): Verdict[] {
  const { process, window, patience } = circumstances
  const declared = declaredOf(ask.route)
  const resources = identity === null ? {} : pinned(granted, identity.tenants)
  const everywhere = resources['*'] ?? []
  const isSuperuser = everywhere.includes(SUPERUSER)
  const named = tenantOf(ask, declared)
  if (typeof named === 'number') {
    return [`400 ${named === 0 ? 'ERR_AUTH_TENANT_MISSING' : 'ERR_AUTH_TENANT_INVALID'}`]
  }
  const { tenant } = named
  const mayAct = tenant === null || isSuperuser || Object.hasOwn(resources, tenant)
  if (identity !== null && !mayAct) {
    if (declared.guests) return permittedIn(ask, null, {}, circumstances)
    return ['403 ERR_AUTH_TENANT_FORBIDDEN']
  }
  const states = tenant === null ? [true] : process.tenants.during(tenant, window, patience)
  return states.flatMap((state) => {
    if (state === NO_ANSWER) return ['503 ERR_AUTH_TENANTS_UNAVAILABLE']
    const suspended = state === 'suspended'
    const isServed = !suspended || servesSuspended(ask, declared, circumstances)
    if (state === false || (identity === null && !isServed)) return ['404 ERR_AUTH_TENANT_UNKNOWN']
    if (!isServed && !isSuperuser) return ['403 ERR_AUTH_TENANT_SUSPENDED']
    if (identity === null) return [admitted({ tenant, ...GUEST })]
    const { claims } = identity
    const here = tenant === null ? [] : (resources[tenant] ?? [])
    const held = [...new Set([...everywhere, ...here])].sort()
    if (!isMet(ask, declared, held, isSuperuser)) return ['403 ERR_AUTH_RESOURCE_MISSING']
    const received = { tenant, sub: claims.sub, issuer: claims.iss, resources: held, suspended }
    return loginsOf(claims, declared, circumstances).flatMap((refusal) => {
      if (refusal !== null) return [refusal]
      return [(declared.check && refusedBy(ask.says)) || admitted(received)]
    })
  })
}

/** DESIGN.md, section 10. */
function pinned(resources: Resources, tenants: Identity['tenants']): Resources {
  if (tenants === '*') return resources
  const { '*': everywhere = [], ...others } = resources
  const served = Object.entries(others).filter(([tenant]) => tenants.includes(tenant))
  return Object.fromEntries(served.map(([tenant, ids]) => [tenant, [...ids, ...everywhere]]))
}

/** How many tenants are named, where that is not one good name or none that is needed. */
function tenantOf(
  { route, tenants }: Ask,
  { tenant: place }: Declared,
): { readonly tenant: string | null } | number {
  const isInPath = route.includes(':tenant')
  if (!isInPath && place === undefined) return { tenant: null }
  const [name] = tenants
  if (name === undefined) return place === 'optional' ? { tenant: null } : 0
  return tenants.length === 1 && isName(name) ? { tenant: name } : 1
}

function isName(name: string): boolean {
  const hasControl = [...name].some(
    (letter) => letter < ' ' || (letter >= '\x7f' && letter <= '\x9f'),
  )
  return name !== '' && name !== '*' && name.length <= 255 && !hasControl
}

/** Section 18: nobody knows whether a call only reads. */
function servesSuspended(
  { route }: Ask,
  { suspended, late }: Declared,
  { process }: Circumstances,
) {
  const isRead = !late && route !== CALL
  return suspended === true || (process.rightsFrom === 'application' && isRead)
}

function isMet(
  { says }: Ask,
  { require }: Declared,
  held: readonly string[],
  isSuperuser: boolean,
): boolean {
  if (require === undefined) return true
  const implied = Object.entries(IMPLIES).flatMap(([id, ids]) => (held.includes(id) ? ids : []))
  const holds = (id: string) => isSuperuser || [...held, ...implied].includes(id)
  if (typeof require === 'string') return holds(require)
  if ('among' in require) return require.among.includes(says) && holds(says)
  return 'any' in require ? require.any.some(holds) : require.every(holds)
}

/** Section 18: an id that the route does not name is refused to everybody, whatever the rights. */
export function isRefusedToAll({ route, says }: Ask): boolean {
  const { require } = declaredOf(route)
  return typeof require === 'object' && 'among' in require && !require.among.includes(says)
}

/** Section 20: null where the login is good enough, and the refusal where it may not be. */
function loginsOf(
  { acr, auth_time: time }: Claims,
  { stepUp }: Declared,
  circumstances: Circumstances,
): (Verdict | null)[] {
  if (stepUp === undefined) return [null]
  const refusal = '401 ERR_AUTH_STEP_UP_REQUIRED'
  if (acr !== stepUp.acr || time === undefined) return [refusal]
  const { earliest, latest } = clockOf(circumstances)
  const [start, end] = [time - TIMES.clockTolerance, time + stepUp.maxAge + TIMES.clockTolerance]
  const mayHold = earliest <= end && Math.floor(latest) >= start
  const mayLack = latest > end || Math.floor(earliest) < start
  return [...(mayHold ? [null] : []), ...(mayLack ? [refusal] : [])]
}

/** Undefined: the check holds. */
function refusedBy(says: string): Verdict | undefined {
  if (says === 'yes') return undefined
  return says === 'no' ? '403 ERR_AUTH_NOT_PERMITTED' : '503 ERR_AUTH_CHECK_UNAVAILABLE'
}
