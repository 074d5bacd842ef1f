import { ERR_AUTH_CONFIG_INVALID, ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { rootScope, scopesWithin } from '../outside/fastify-scope.ts'
import type { AuditedScope, InspectedRoute } from './inspected-scope.ts'
import { earlyPlaces, type ListedPlace, routePlaces } from './listed-routes.ts'
import { isOfCors, type Neighbours } from './neighbours.ts'
import { printedRoutes } from './printed-routes.ts'

export interface AuditRules {
  /** What to do about routes that no guard covers. */
  readonly uncovered: 'warn' | 'refuse' | 'ignore'
  readonly tenantParameter: string
}

/**
 * Checks that need the whole application. Called after every plugin has loaded.
 *
 * @throws ERR_AUTH_CONFIG_INVALID for uncovered routes if they are to be refused, and for a scope
 * that decorates requests with our names
 * @throws ERR_AUTH_ROUTE_INVALID for uncovered routes with a declaration that no guard will hold
 */
export function auditRoutes(
  audited: AuditedScope,
  neighbours: Neighbours,
  rules: AuditRules,
): void {
  const { scope } = audited
  const warn = (message: string, routes?: unknown): void => {
    scope.log.warn(routes === undefined ? {} : { routes }, `tenant auth: ${message}`)
  }
  const written = [...audited.seen, ...(audited.early ?? [])]
  const scopes = new Set([scope, ...written.map((route) => route.scope)])
  refuseRedecorated(audited, new Set([...scopes, ...scopesWithin(scope)]))
  reportUncovered(audited, rules, warn)
  for (const advice of neighbours.misplaced(scopes)) warn(advice)
  reportEarly(audited, warn)
  reportMistaken(audited, written, rules, warn)
}

type Warn = (message: string, routes?: unknown) => void

function refuseRedecorated(audited: AuditedScope, scopes: Iterable<InspectedRoute['scope']>): void {
  const found = new Set([...scopes].flatMap((scope) => audited.redecorated(scope)))
  if (found.size > 0) throw decoratedAgain([...found])
}

export function decoratedAgain(names: readonly string[]): ERR_AUTH_CONFIG_INVALID {
  return new ERR_AUTH_CONFIG_INVALID(
    `decorateRequest: expected no decoration of the guard's names below it, found ${names.join(', ')} (boot)`,
  )
}

/**
 * Applications whose uncovered routes were told of. Several guards in one application see the same
 * routes.
 */
const toldOf = new WeakSet<object>()

function reportUncovered(audited: AuditedScope, { uncovered }: AuditRules, warn: Warn): void {
  const open = uncoveredRoutes(audited)
  if (open !== null && open.length === 0) return
  if (uncovered === 'refuse') {
    const found =
      open === null ? 'hooks whose names another plugin has changed' : `none on ${open.join(', ')}`
    throw new ERR_AUTH_CONFIG_INVALID(
      `uncovered: expected a guard on every route, found ${found} (boot)`,
    )
  }
  if (uncovered === 'ignore' || toldOf.has(rootScope(audited.scope))) return
  toldOf.add(rootScope(audited.scope))
  if (open !== null) warn('no guard covers these routes', open)
  else {
    warn(
      'which routes no guard covers cannot be told: another plugin has renamed the hooks; import fastify-tenant-auth before the application is made',
    )
  }
}

/** The routes that no guard covers; null if that cannot be told. */
function uncoveredRoutes(audited: AuditedScope): string[] | null {
  if (audited.isRoot) return []
  const { application } = audited
  return application === undefined
    ? uncoveredInPrint(audited)
    : uncoveredAmong(application, audited)
}

/** By their scopes. */
function uncoveredAmong(routes: readonly InspectedRoute[], audited: AuditedScope): string[] {
  const open = routes.filter((route) => !audited.isCovered(route))
  const declaring = open
    .filter(({ declares }) => declares.length > 0)
    .map(
      ({ methods, url, declares }) =>
        `${methods.join(', ')} ${url}: ${declares.join('; ')}, and no guard covers it`,
    )
  if (declaring.length > 0) throw new ERR_AUTH_ROUTE_INVALID(declaring.join('\n'))
  return open.flatMap((route) => placesButCors(route).map(nameOf))
}

/** Without the route that @fastify/cors writes for itself: it is none of the application. */
function placesButCors(route: InspectedRoute): ListedPlace[] {
  return routePlaces(route).filter((place) => !isOfCors(place, route.scope))
}

/**
 * By the names of their hooks. If an application was made before this package was loaded, Fastify
 * tells no more.
 */
function uncoveredInPrint({ scope, guardName, guardNames, seen }: AuditedScope): string[] | null {
  const routes = printedRoutes(scope, { hooks: 'onRequest' })
  const isRenamed = seen.length > 0 && !routes.some(({ hooks }) => hooks.includes(guardName))
  if (isRenamed) return null
  return routes
    .filter(({ hooks }) => !hooks.some((name) => guardNames.includes(name)))
    .filter((place) => !isOfCors(place, rootScope(scope)))
    .map(nameOf)
}

function reportEarly(audited: AuditedScope, warn: Warn): void {
  const early = (
    audited.early?.flatMap(placesButCors) ??
    earlyPlaces(audited).filter((place) => !isOfCors(place, audited.scope))
  ).length
  if (early === 0) return
  if (audited.earlyProblems.length > 0) {
    warn('routes that were written before the plugin had loaded are wrong', audited.earlyProblems)
  }
  warn(
    `${early} routes were written before the plugin had loaded and are guarded in the stricter reading; await app.register(…) before writing routes`,
    early,
  )
}

/** A route that declares a tenant is refused for such a name. One warning tells of the others. */
function reportMistaken(
  audited: AuditedScope,
  written: readonly InspectedRoute[],
  rules: AuditRules,
  warn: Warn,
): void {
  const suspects = written.filter(
    ({ policy, url }) => policy?.noauth !== true && audited.mistaken(url).length > 0,
  )
  if (suspects.length === 0) return
  warn(
    `these paths have a parameter that looks like the tenant segment, which is :${rules.tenantParameter}; rename it, or set tenantParameter`,
    suspects.map(({ methods, url }) => `${methods.join(', ')} ${url}`),
  )
}

function nameOf({ method, url }: ListedPlace): string {
  return `${method} ${url}`
}
