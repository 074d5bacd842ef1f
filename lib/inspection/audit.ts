import type { FastifyInstance } from 'fastify'
import { applicationRoutes } from '../declaration/application-routes.ts'
import { mistakenSegments } from '../declaration/policy.ts'
import type { Route } from '../declaration/route.ts'
import { added, type RouteRegister } from '../declaration/route-register.ts'
import { ERR_AUTH_CONFIG_INVALID, ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { decoratedAgain, redecorated } from '../guard/request-decorators.ts'
import { guardedScopes } from '../guard/scopes.ts'
import { isWithin, rootScope, scopesWithin } from '../outside/fastify-scope.ts'
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
  register: RouteRegister,
  neighbours: Neighbours,
  rules: AuditRules,
): void {
  const { scope, seen, early } = register
  const warn = (message: string, routes?: unknown): void => {
    scope.log.warn(routes === undefined ? {} : { routes }, `tenant auth: ${message}`)
  }
  const written = [...seen, ...(early ?? [])]
  const scopes = new Set([scope, ...written.map((route) => route.scope)])
  const below = [...new Set([...scopes, ...scopesWithin(scope)])]
  const names = new Set(below.flatMap((each) => redecorated(scope, each)))
  if (names.size > 0) throw decoratedAgain([...names])
  reportUncovered(scope, rules, warn)
  for (const advice of neighbours.misplaced(scopes)) warn(advice)
  reportEarly(register, warn)
  reportMistaken(written, rules, warn)
}

type Warn = (message: string, routes?: unknown) => void

/**
 * Applications whose uncovered routes were told of. Several guards in one application see the same
 * routes.
 */
const toldOf = new WeakSet<object>()

function reportUncovered(scope: FastifyInstance, { uncovered }: AuditRules, warn: Warn): void {
  const open = uncoveredRoutes(scope)
  if (open.length === 0 || uncovered === 'ignore') return
  if (uncovered === 'refuse') {
    throw new ERR_AUTH_CONFIG_INVALID(
      `uncovered: expected a guard on every route, found none on ${open.join(', ')}; ${UNCOVERED_CURES} (boot)`,
    )
  }
  const root = rootScope(scope)
  if (toldOf.has(root)) return
  toldOf.add(root)
  warn(`no guard covers these routes; ${UNCOVERED_CURES}`, open)
}

const UNCOVERED_CURES =
  "wrap the module that registers the guard with fastify-plugin, or say that it is meant: uncovered: 'ignore'"

/** By their scopes. Routes that say that they are open are meant. */
function uncoveredRoutes(scope: FastifyInstance): string[] {
  const guarded = guardedScopes(scope)
  const open = added(applicationRoutes(scope) ?? []).filter(
    (route) => !guarded.some((each) => isWithin(each, route.scope)),
  )
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
function placesButCors(route: Route): ListedPlace[] {
  return routePlaces(route).filter((place) => !isOfCors(place, route.scope))
}

function reportEarly({ early, earlyProblems }: RouteRegister, warn: Warn): void {
  if (early === undefined) {
    warn(
      "the application was made before this package was loaded: routes written before the plugin are guarded, and cannot be listed; load it before Fastify() is called, as require('fastify-tenant-auth') at the top",
    )
    return
  }
  const places = early.flatMap(placesButCors)
  if (places.length === 0) return
  if (earlyProblems.length > 0) {
    warn('routes that were written before the plugin had loaded are wrong', earlyProblems)
  }
  warn(
    `${places.length} routes were written before the plugin had loaded and are guarded in the stricter reading; await app.register(…) before writing routes, and before @fastify/autoload`,
    places.slice(0, MOST_NAMED).map(nameOf),
  )
}

/** Most early routes that the warning names. */
const MOST_NAMED = 10

/** A route that declares a tenant is refused for such a name. One warning tells of the others. */
function reportMistaken(written: readonly Route[], rules: AuditRules, warn: Warn): void {
  const suspects = written.filter(
    ({ policy, url }) => policy?.noauth !== true && mistakenSegments(url, rules).length > 0,
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
