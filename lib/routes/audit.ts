import type { FastifyInstance } from 'fastify'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import type { TenantPlace } from '../tenancy/resolve-tenant.ts'
import type { Requirement } from './declaration.ts'
import { GUARD, isRootScope } from './guarded-scopes.ts'
import { hasNeighbours, misplacedNeighbours } from './hook-order.ts'
import { type PrintedRoute, printedRoutes } from './printed-routes.ts'
import type { RouteRegister } from './route-register.ts'
import { unseenRoutes } from './unseen-routes.ts'

/** One route, as `authService.routes()` lists it. */
export interface ListedRoute {
  readonly method: string
  readonly url: string
  /** Null where the policy is not known. */
  readonly noauth: boolean | null
  /** Where the tenant stands; null: nowhere, or the policy is not known. */
  readonly tenant: TenantPlace
  /** The ids that must be held: all of a list, or any; null: none, or the policy is not known. */
  readonly require: readonly string[] | { readonly any: readonly string[] } | null
  /** False for a route that was written before the plugin had loaded: it is guarded, in the stricter reading. */
  readonly seen: boolean
}

export interface AuditRules {
  /** What to do about routes that no guard covers. */
  readonly uncovered: 'warn' | 'refuse' | 'ignore'
}

/** Every route of a guarded scope, with its policy. */
export function listRoutes(app: FastifyInstance, register: RouteRegister): ListedRoute[] {
  const seen = places(register).map(({ method, url, policy }) => ({
    method,
    url,
    noauth: policy?.noauth ?? null,
    tenant: policy?.tenant ?? null,
    require: show(policy?.requirement ?? null),
    seen: true,
  }))
  const early = tooEarly(printedRoutes(app, 'onRequest'), register).map(({ method, url }) => ({
    method,
    url,
    noauth: null,
    tenant: null,
    require: null,
    seen: false,
  }))
  return [...seen, ...early]
}

/**
 * What only a look at the whole application shows: routes that no guard covers, and routes that were written before
 * the plugin had loaded.
 *
 * @throws ERR_AUTH_CONFIG_INVALID for uncovered routes, where they are to be refused
 */
export function auditRoutes(
  app: FastifyInstance,
  register: RouteRegister,
  { uncovered }: AuditRules,
): void {
  if (isRootScope(app) && areAllSeen(app, register) && !hasNeighbours(app)) return
  const routes = printedRoutes(app, 'onRequest')
  const open = routes.filter((route) => !isCovered(route)).map(nameOf)
  if (open.length > 0 && uncovered === 'refuse') {
    throw new ERR_AUTH_CONFIG_INVALID(
      `uncovered: expected a guard on every route, found none on ${open.join(', ')} (boot)`,
    )
  }
  if (open.length > 0 && uncovered === 'warn' && !toldOf.has(app.server)) {
    toldOf.add(app.server)
    app.log.warn({ routes: open }, 'tenant auth: no guard covers these routes')
  }
  for (const advice of misplacedNeighbours(routes, register.guardName)) {
    app.log.warn(`tenant auth: ${advice}`)
  }
  const early = tooEarly(routes, register).filter((route) => !isOfCors(route)).length
  if (early > 0) {
    app.log.warn(
      { routes: early },
      `tenant auth: ${early} routes were written before the plugin had loaded and are guarded in the stricter reading; await app.register(…) before writing routes`,
    )
  }
}

/** Applications whose uncovered routes were told of: several guards in one see the same. */
const toldOf = new WeakSet<object>()

/** Under a guard on the root instance, where nothing can be open, the hooks need not be read then, which takes longest. */
function areAllSeen(app: FastifyInstance, register: RouteRegister): boolean {
  return unseenRoutes(printedRoutes(app), places(register)).length === 0
}

function isCovered({ hooks }: PrintedRoute): boolean {
  return hooks.some((name) => name.startsWith(GUARD))
}

function tooEarly(routes: readonly PrintedRoute[], register: RouteRegister): PrintedRoute[] {
  const guarded = routes.filter(({ hooks }) => hooks.includes(register.guardName))
  return unseenRoutes(guarded, places(register))
}

/** Each method and url of the routes that were seen. */
function places({ seen }: RouteRegister) {
  return seen.flatMap(({ methods, urls, policy }) =>
    methods.flatMap((method) => urls.map((url) => ({ method, url, policy }))),
  )
}

/** @fastify/cors, which belongs before this plugin, writes `OPTIONS *` for itself. */
function isOfCors({ method, url }: PrintedRoute): boolean {
  return method === 'OPTIONS' && url.endsWith('*')
}

function nameOf({ method, url }: PrintedRoute): string {
  return `${method} ${url}`
}

function show(requirement: Requirement | null): ListedRoute['require'] {
  if (requirement === null) return null
  return requirement.mode === 'any' ? { any: requirement.ids } : requirement.ids
}
