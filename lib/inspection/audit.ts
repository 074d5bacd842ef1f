import { ERR_AUTH_CONFIG_INVALID, ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { rootScope, scopesWithin } from '../outside/fastify-scope.ts'
import type { AuditedScope, InspectedRoute } from './inspected-scope.ts'
import { type ListedPlace, routePlaces } from './listed-routes.ts'
import { isOfCors, type Neighbours } from './neighbours.ts'

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
  if (open.length === 0 || uncovered === 'ignore') return
  if (uncovered === 'refuse') {
    throw new ERR_AUTH_CONFIG_INVALID(
      `uncovered: expected a guard on every route, found none on ${open.join(', ')}; ${UNCOVERED_CURES} (boot)`,
    )
  }
  if (toldOf.has(rootScope(audited.scope))) return
  toldOf.add(rootScope(audited.scope))
  warn(`no guard covers these routes; ${UNCOVERED_CURES}`, open)
}

const UNCOVERED_CURES =
  "wrap the module that registers the guard with fastify-plugin, or say that it is meant: uncovered: 'ignore'"

/** By their scopes. Routes that say that they are open are meant. */
function uncoveredRoutes({ application = [], isCovered }: AuditedScope): string[] {
  const open = application.filter((route) => !isCovered(route))
  const declaring = open
    .filter(({ declares }) => declares.length > 0)
    .map(
      ({ methods, url, declares }) =>
        `${methods.join(', ')} ${url}: ${declares.join('; ')}, and no guard covers it`,
    )
  if (declaring.length > 0) throw new ERR_AUTH_ROUTE_INVALID(declaring.join('\n'))
  return open
    .filter(({ declared }) => !declared.noauth)
    .flatMap(placesButCors)
    .map(nameOf)
}

/** Without the route that @fastify/cors writes for itself: it is none of the application. */
function placesButCors(route: InspectedRoute): ListedPlace[] {
  return routePlaces(route).filter((place) => !isOfCors(place, route.scope))
}

function reportEarly(audited: AuditedScope, warn: Warn): void {
  if (audited.early === undefined) {
    warn(
      "the application was made before this package was loaded: routes written before the plugin are guarded, and cannot be listed; load it before Fastify() is called, as require('fastify-tenant-auth') at the top",
    )
    return
  }
  const early = audited.early.flatMap(placesButCors)
  if (early.length === 0) return
  if (audited.earlyProblems.length > 0) {
    warn('routes that were written before the plugin had loaded are wrong', audited.earlyProblems)
  }
  warn(
    `${early.length} routes were written before the plugin had loaded and are guarded in the stricter reading; await app.register(…) before writing routes, and before @fastify/autoload`,
    early.slice(0, MOST_NAMED).map(nameOf),
  )
}

/** Most early routes that the warning names. */
const MOST_NAMED = 10

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
