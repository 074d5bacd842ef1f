import type { FastifyInstance } from 'fastify'
import { applicationRoutes } from '../declaration/application-routes.ts'
import { DECLARED_KEYS } from '../declaration/declaration.ts'
import { mistakenSegments } from '../declaration/policy.ts'
import type { RouteRegister } from '../declaration/route-register.ts'
import type { WrittenRoute } from '../declaration/written-route.ts'
import { ERR_AUTH_CONFIG_INVALID, ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { guardedScopes, isRootScope, isWithin } from '../guard/guarded-scopes.ts'
import { redecorated } from '../guard/redecorated.ts'
import { decoratedAgain } from '../guard/request-access.ts'
import { earlyPlaces, type ListedPlace, routePlaces } from './listed-routes.ts'
import type { Neighbours } from './neighbours.ts'
import { printedRoutes } from './printed-routes.ts'

export interface AuditRules {
  /** What to do about routes that no guard covers. */
  readonly uncovered: 'warn' | 'refuse' | 'ignore'
  readonly tenantParameter: string
}

/**
 * What only a look at the whole application shows, once every plugin has loaded.
 *
 * @throws ERR_AUTH_CONFIG_INVALID for uncovered routes where they are refused, and for requests that a scope below
 * decorates with our names
 * @throws ERR_AUTH_ROUTE_INVALID for uncovered routes that declare what no guard will hold
 */
export function auditRoutes(
  register: RouteRegister,
  neighbours: Neighbours,
  rules: AuditRules,
): void {
  const { scope } = register
  const warn = (message: string, routes?: unknown): void => {
    scope.log.warn(routes === undefined ? {} : { routes }, `tenant auth: ${message}`)
  }
  const written = [...register.seen, ...(register.early ?? [])]
  const scopes = new Set([scope, ...written.map((route) => route.scope)])
  refuseRedecorated(scope, scopes)
  reportUncovered(register, rules, warn)
  for (const advice of neighbours.misplaced(scopes)) warn(advice)
  reportEarly(register, warn)
  reportMistaken(written, rules, warn)
}

type Warn = (message: string, routes?: unknown) => void

function refuseRedecorated(guarded: FastifyInstance, scopes: Iterable<FastifyInstance>): void {
  const found = new Set([...scopes].flatMap((scope) => redecorated(guarded, scope)))
  if (found.size > 0) throw decoratedAgain([...found])
}

/** Applications whose uncovered routes were told of: several guards in one see the same. */
const toldOf = new WeakSet<object>()

function reportUncovered(register: RouteRegister, { uncovered }: AuditRules, warn: Warn): void {
  const open = uncoveredRoutes(register)
  if (open !== null && open.length === 0) return
  if (uncovered === 'refuse') {
    const found =
      open === null ? 'hooks whose names another plugin has changed' : `none on ${open.join(', ')}`
    throw new ERR_AUTH_CONFIG_INVALID(
      `uncovered: expected a guard on every route, found ${found} (boot)`,
    )
  }
  if (uncovered === 'ignore' || toldOf.has(register.scope.server)) return
  toldOf.add(register.scope.server)
  if (open !== null) warn('no guard covers these routes', open)
  else {
    warn(
      'which routes no guard covers cannot be told: another plugin has renamed the hooks; import fastify-tenant-auth before the application is made',
    )
  }
}

/** The routes that no guard covers; null where that cannot be told. */
function uncoveredRoutes(register: RouteRegister): string[] | null {
  const { scope } = register
  if (isRootScope(scope)) return []
  const written = applicationRoutes(scope)
  return written === undefined ? uncoveredInPrint(register) : uncoveredAmong(written, scope)
}

/** By their scopes. */
function uncoveredAmong(written: readonly WrittenRoute[], scope: FastifyInstance): string[] {
  const guarded = guardedScopes(scope)
  const open = written.filter(
    (route) => !guarded.some((outer) => isWithin(outer.scope, route.scope)),
  )
  const declaring = open.flatMap((route) =>
    declarations(route.config).map((keys) => `${route.methods.join(', ')} ${route.url}: ${keys}`),
  )
  if (declaring.length > 0) throw new ERR_AUTH_ROUTE_INVALID(declaring.join('\n'))
  return open.flatMap((route) => routePlaces(route, { scope }).map(nameOf))
}

function declarations(config: object): string[] {
  const values = new Map<string, unknown>(Object.entries(config))
  const keys = DECLARED_KEYS.filter(
    (key) => key !== 'noauth' && (values.get(key) ?? false) !== false,
  )
  return keys.length > 0 ? [`declares ${keys.join(', ')}, and no guard covers it`] : []
}

/** By the names of their hooks: Fastify tells no more of an application that was made before this package was loaded. */
function uncoveredInPrint({ scope, guardName, seen }: RouteRegister): string[] | null {
  const names = new Set(guardedScopes(scope).map((guarded) => guarded.guardName))
  const routes = printedRoutes(scope, 'onRequest')
  const isRenamed = seen.length > 0 && !routes.some(({ hooks }) => hooks.includes(guardName))
  if (isRenamed) return null
  return routes.filter(({ hooks }) => !hooks.some((name) => names.has(name))).map(nameOf)
}

function reportEarly(register: RouteRegister, warn: Warn): void {
  const early = earlyPlaces(register).filter((place) => !isOfCors(place)).length
  if (early === 0) return
  warn(
    `${early} routes were written before the plugin had loaded and are guarded in the stricter reading; await app.register(…) before writing routes`,
    early,
  )
}

/** A route that declares a tenant is refused for such a name; of the others one warning tells. */
function reportMistaken(written: readonly WrittenRoute[], rules: AuditRules, warn: Warn): void {
  const suspects = written.filter(
    ({ policy, url }) => policy?.noauth !== true && mistakenSegments(url, rules).length > 0,
  )
  if (suspects.length === 0) return
  warn(
    `these paths have a parameter that looks like the tenant, which is :${rules.tenantParameter}; they are guarded for no tenant`,
    suspects.map(({ methods, url }) => `${methods.join(', ')} ${url}`),
  )
}

/** @fastify/cors, which belongs before this plugin, writes `OPTIONS *` for itself. */
function isOfCors({ method, url }: ListedPlace): boolean {
  return method === 'OPTIONS' && url.endsWith('*')
}

function nameOf({ method, url }: ListedPlace): string {
  return `${method} ${url}`
}
