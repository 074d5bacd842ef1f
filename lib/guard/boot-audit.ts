import type { FastifyInstance } from 'fastify'
import { ERR_AUTH_CONFIG_INVALID, ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { isScope, rootScope, scopesWithin } from '../routes/fastify-scope.ts'
import type { PolicyRules } from '../routes/policy.ts'
import type { Route } from '../routes/route.ts'
import { type ListedPlace, routePlaces } from '../routes/route-list.ts'
import { added, type RouteRegistry, routeProblems } from '../routes/route-registry.ts'
import { conflictError, decoratorConflicts } from './request-decorators.ts'
import { isCovered } from './scopes.ts'

interface AuditRules extends PolicyRules {
  readonly uncovered: 'warn' | 'refuse' | 'ignore'
  readonly undeclared: 'warn' | 'refuse' | 'ignore'
}

/**
 * Checks that need the whole application. Called after every plugin has loaded.
 *
 * @throws ERR_AUTH_CONFIG_INVALID for uncovered routes unless they are allowed, and for a scope
 * that decorates requests with our names
 * @throws ERR_AUTH_ROUTE_INVALID for uncovered routes with a declaration that no guard will hold
 */
export function auditRoutes(
  registry: RouteRegistry,
  pluginOrder: PluginOrder,
  rules: AuditRules,
): void {
  const { scope, routes, early } = registry
  const warn: Warn = (message, routes) => {
    if (routes?.length === 0) return
    scope.log.warn({ routes }, `tenant auth: ${message}`)
  }
  const scopes = new Set([scope, ...routes.map((route) => route.scope)])
  const below = new Set([...scopes, ...scopesWithin(scope)])
  below.delete(scope)
  const names = new Set([...below].flatMap((each) => decoratorConflicts(scope, each)))
  if (names.size > 0) throw conflictError([...names])
  reportUncovered(registry, rules, warn)
  for (const advice of pluginOrder.misplaced(scopes)) warn(advice)
  reportEarly(early, registry.earlyProblems, warn)
  reportMistaken(routes, rules, warn)
  reportTenantless(routes, rules, warn)
  reportUndeclared(routes, rules, warn)
  // Routes that cannot be listed may name them.
  if (early !== undefined) reportUnused(routes, rules, warn)
}

/** A check that nothing names protects nothing. */
function reportUnused(routes: readonly Route[], { checks = {} }: AuditRules, warn: Warn): void {
  const named = new Set(routes.flatMap(({ declared }) => declared.checks ?? []))
  const unused = Object.keys(checks).filter((name) => !named.has(name))
  if (unused.length > 0) warn(`no route names these checks: ${unused.join(', ')}`)
}

/** @param routes those that it is about; of an empty list nothing is said */
type Warn = (message: string, routes?: readonly string[]) => void

/**
 * Applications whose uncovered routes were reported. Several guards in one application see the same
 * routes.
 */
const reported = new WeakSet<object>()

function reportUncovered(registry: RouteRegistry, { uncovered }: AuditRules, warn: Warn): void {
  const open = uncoveredRoutes(registry)
  if (open.length === 0 || uncovered === 'ignore') return
  if (uncovered === 'refuse') {
    throw new ERR_AUTH_CONFIG_INVALID(
      `uncovered: expected a guard on every route, found none on ${open.join(', ')}; ${UNCOVERED_CURES} (boot)`,
    )
  }
  const root = rootScope(registry.scope)
  if (reported.has(root)) return
  reported.add(root)
  warn(`no guard covers these routes; ${UNCOVERED_CURES}`, open)
}

const WRAP = 'wrap the module that registers the guard with fastify-plugin'

const UNCOVERED_CURES = `${WRAP}, or say that it is meant: uncovered: 'ignore'`

/** Routes that declare `noauth` are meant to be uncovered. */
function uncoveredRoutes({ known }: RouteRegistry): string[] {
  const outside = known.filter(({ scope }) => !isCovered(scope))
  const open = added(outside)
  const declaring = open
    .filter(({ declares }) => declares.length > 0)
    .map(
      ({ methods, url, declares }) =>
        `${methods.join(', ')} ${url}: ${declares.join('; ')}, and no guard covers it`,
    )
  if (declaring.length > 0) {
    throw new ERR_AUTH_ROUTE_INVALID([...declaring, WRAP].join('\n'))
  }
  return open.filter(({ declared }) => !declared.noauth).flatMap(namesOf)
}

/**
 * A route's methods and urls, without those that @fastify/cors adds for itself: these are not the
 * application's.
 */
function namesOf(route: Route): string[] {
  const places = routePlaces(route).filter((place) => !isOfCors(place, route.scope))
  return places.map(({ method, url }) => `${method} ${url}`)
}

function reportEarly(
  early: readonly Route[] | undefined,
  problems: readonly string[],
  warn: Warn,
): void {
  warn(
    'routes that were written before the plugin had loaded are wrong: they are guarded strictly, or closed',
    problems,
  )
  if (early === undefined) {
    warn(
      "the application was made before this package was loaded: routes written before the plugin are guarded, and cannot be listed; load it before Fastify() is called, by import 'fastify-tenant-auth' or require('fastify-tenant-auth') at the top",
    )
    return
  }
  // The guard leaves an open route alone in any reading.
  const names = early.filter(({ policy }) => !policy?.isExempt).flatMap(namesOf)
  if (names.length === 0) return
  warn(
    `${names.length} routes were written before the plugin had loaded and are guarded in the stricter reading; await app.register(…) before writing routes, and before @fastify/autoload`,
    names.slice(0, MOST_NAMED),
  )
}

/** Most early routes that the warning names. */
const MOST_NAMED = 10

/**
 * A route that declares a tenant is refused for a mistaken segment. One warning lists the others.
 */
function reportMistaken(routes: readonly Route[], rules: AuditRules, warn: Warn): void {
  const suspects = routes.filter(
    ({ policy }) => policy?.noauth === false && policy.hasSuspectParameter,
  )
  warn(
    `these paths have a parameter that looks like the tenant segment, which is :${rules.tenantParameter}; rename it, or set tenantParameter`,
    suspects.flatMap(namesOf),
  )
}

/** The problems of routes that do not say who may use them, if the option refuses them. */
export function undeclaredProblems(
  registry: RouteRegistry,
  { undeclared }: Pick<AuditRules, 'undeclared'>,
): string[] {
  if (undeclared !== 'refuse') return []
  const found =
    'declares neither require nor check nor guests, so any user of its tenant may; require: false says that it is meant'
  return routeProblems(registry.routes.filter(isUndeclared).map((route) => ({ route, found })))
}

function reportUndeclared(routes: readonly Route[], { undeclared }: AuditRules, warn: Warn): void {
  if (undeclared !== 'warn') return
  warn(
    'any user of their tenant may use these routes, which declare neither require nor check nor guests; declare who may (require: false: it is meant)',
    routes.filter(isUndeclared).flatMap(namesOf),
  )
}

function isUndeclared(route: Route): boolean {
  const { noauth, requirement, checks, guests, declaresNoRequire } = route.declared
  const isSaid = noauth || requirement !== null || checks !== null || guests || declaresNoRequire
  return !isSaid && namesOf(route).length > 0
}

/** A host or a header does not guard by itself, as a segment does. */
function reportTenantless(routes: readonly Route[], rules: AuditRules, warn: Warn): void {
  const { resolveTenant, tenantDefault, multitenancy, devMode } = rules
  if (resolveTenant === undefined || tenantDefault || !(multitenancy || devMode)) return
  const open = routes.filter(
    ({ policy, declared }) =>
      policy?.tenant === null && !policy.noauth && !declared.declaresNoTenant,
  )
  warn(
    'resolveTenant is given, and these guarded routes look at no tenant; set tenantDefault: true, or declare tenant (false: it is meant)',
    open.flatMap(namesOf),
  )
}

/** Plugins that answer requests themselves, and their place before or after the guard. */
const PLUGINS = [
  {
    name: '@fastify/cors',
    belongs: 'before',
    advice:
      '@fastify/cors is registered after this plugin: the guard refuses preflights, and browsers cannot read its refusals from another origin; register it before',
  },
  ...['@fastify/middie', '@fastify/express'].map((name) => ({
    name,
    belongs: 'after',
    advice: `${name} is registered before this plugin: its middleware answers strangers; register it after`,
  })),
]

/**
 * The order of these plugins and the guard. Hooks of a plugin before the guard run before its own.
 */
export class PluginOrder {
  readonly #inGuarded: readonly string[]
  readonly #inBelow: ReadonlyMap<FastifyInstance, readonly string[]>

  constructor(guarded: FastifyInstance, below: readonly FastifyInstance[]) {
    this.#inGuarded = pluginsIn(guarded)
    this.#inBelow = new Map(below.map((scope) => [scope, pluginsIn(scope)]))
  }

  /** Warnings about plugins on the wrong side of the guard in one of the scopes. */
  misplaced(scopes: Iterable<FastifyInstance>): string[] {
    const all = [...scopes]
    const isBefore = (name: string, scope: FastifyInstance) =>
      (this.#inBelow.get(scope) ?? this.#inGuarded).includes(name)
    return PLUGINS.filter(({ name, belongs }) =>
      all.some((scope) => scope.hasPlugin(name) && isBefore(name, scope) === (belongs === 'after')),
    ).map(({ advice }) => advice)
  }
}

/**
 * True for the route that @fastify/cors adds for itself, so that Fastify takes preflights of all
 * urls.
 */
export function isOfCors(
  { method, url, constraints }: ListedPlace,
  scope: FastifyInstance,
): boolean {
  const isItsPlace = url === `${scope.prefix}*` && constraints === undefined
  if (method !== 'OPTIONS' || !isItsPlace || !hasCors(scope)) return false
  // A scope has the plugins of the scopes around it, too.
  const around = Reflect.getPrototypeOf(scope)
  return around === null || !isScope(around) || !hasCors(around)
}

/** Frameworks such as NestJS call @fastify/cors themselves, so that Fastify does not know it. */
export function hasCors(scope: FastifyInstance): boolean {
  return scope.hasPlugin('@fastify/cors') || scope.hasRequestDecorator('corsPreflightEnabled')
}

function pluginsIn(scope: FastifyInstance): readonly string[] {
  return PLUGINS.filter(({ name }) => scope.hasPlugin(name)).map(({ name }) => name)
}
