import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { isWithin } from '../outside/fastify-scope.ts'
import { addedRoutes } from './added-routes.ts'
import { applicationRoutes, watchRoutes, writtenRoute } from './application-routes.ts'
import { CLOSED, compilePolicy, type Policy, type PolicyRules } from './policy.ts'
import { ownMarked, placeOf, RouteClaims } from './route-claims.ts'
import type { RouteKeeper } from './route-keeper.ts'
import { routeProblems } from './route-problems.ts'
import type { WrittenRoute } from './written-route.ts'

type RouteOptions = FastifyRequest['routeOptions']

/** The routes of one guarded scope, and the policy of each. */
export class RouteRegister {
  readonly scope: FastifyInstance
  /** Name of the hook that guards the scope. */
  readonly guardName: string
  readonly #rules: PolicyRules
  readonly #keeper: RouteKeeper
  readonly #application: readonly WrittenRoute[] | undefined
  readonly #seen = new Set<WrittenRoute>()
  readonly #byPlace = new Map<string, WrittenRoute[]>()
  readonly #compiled = new WeakMap<WrittenRoute, Policy>()
  readonly #policies = new WeakMap<object, Policy | null>()
  readonly #claims: RouteClaims
  #earlyProblems: readonly string[] = []
  #isCompiled = false

  /**
   * Learns of the routes that are written from now on. Where it can, it also learns of earlier
   * ones.
   */
  constructor(scope: FastifyInstance, guardName: string, rules: PolicyRules, keeper: RouteKeeper) {
    this.scope = scope
    this.guardName = guardName
    this.#rules = rules
    this.#keeper = keeper
    this.#application = applicationRoutes(scope)
    this.#claims = new RouteClaims(this.#application !== undefined)
    const keep = (route: WrittenRoute) => this.#keep(route)
    const isTold = watchRoutes(scope, keep)
    const seen = this.#seen
    scope.addHook('onRoute', function (options) {
      const route = writtenRoute(this, options)
      route.mark(options)
      seen.add(route)
      if (!isTold) keep(route)
    })
  }

  #keep(route: WrittenRoute): void {
    if (!isWithin(this.scope, route.scope)) return
    const place = placeOf(route)
    const shared = this.#byPlace.get(place)
    if (shared === undefined) {
      this.#byPlace.set(place, [route])
      return
    }
    shared.push(route)
    // The application may change what tells these routes apart at a request. It cannot change a
    // hook of the route's own.
    for (const each of shared.length === 2 ? shared : [route]) {
      each.prependOnRequest(this.#keeper.confirm(each))
    }
  }

  /** The routes that `onRoute` saw, without those that Fastify refused to add. */
  get seen(): readonly WrittenRoute[] {
    return addedRoutes([...this.#seen])
  }

  /**
   * The routes below the scope that no `onRoute` saw: written before the plugin had loaded, or in a
   * scope that was there before. Undefined if they cannot be known; see `applicationRoutes`.
   */
  get early(): readonly WrittenRoute[] | undefined {
    const early = this.#application?.filter(
      (route) => !this.#seen.has(route) && isWithin(this.scope, route.scope),
    )
    return early && addedRoutes(early)
  }

  /** @throws ERR_AUTH_ROUTE_INVALID with the problems of every route that was seen */
  compile(): void {
    const { seen, early = [] } = this
    const marked = ownMarked([...seen, ...early])
    // Early routes come first: if two routes cannot be told apart, the stricter reading counts.
    const earlyProblems = this.#compileRoutes(early, true, marked)
    const problems = this.#compileRoutes(seen, false, marked)
    if (problems.length > 0) throw new ERR_AUTH_ROUTE_INVALID(problems.join('\n'))
    this.#earlyProblems = earlyProblems
    this.#isCompiled = true
  }

  /** What is wrong with early routes. It did not stop the boot, because they are read strictly. */
  get earlyProblems(): readonly string[] {
    return this.#earlyProblems
  }

  #compileRoutes(
    routes: readonly WrittenRoute[],
    isEarly: boolean,
    marked: ReadonlySet<WrittenRoute>,
  ): string[] {
    return routeProblems(
      routes.flatMap((route) => {
        const found = this.#compileRoute(route, isEarly, marked)
        return found.length > 0 ? [{ route, found: found.join('; ') }] : []
      }),
    )
  }

  /**
   * The policy of a request's route; null if no route matched. It is found once for each config of
   * Fastify's, which is one live object for all requests. What an application writes into the
   * config later changes no policy.
   */
  policyOf(request: FastifyRequest): Policy | null {
    const { routeOptions } = request
    const known = this.#policies.get(routeOptions.config)
    if (known !== undefined) return known
    const policy = this.#keeper.isSound(request) ? this.#firstPolicyOf(routeOptions) : CLOSED
    // Before ready, the policies are not compiled yet.
    if (this.#isCompiled) this.#policies.set(routeOptions.config, policy)
    return policy
  }

  #compileRoute(
    route: WrittenRoute,
    isEarly: boolean,
    marked: ReadonlySet<WrittenRoute>,
  ): string[] {
    const { url, config, hidden } = route
    const facts = { url, config, hidden, strict: isEarly }
    const { policy, problems } = compilePolicy(facts, this.#rules)
    if (route.isHalfAdded)
      problems.push('Fastify refused a part of it, since another route is there')
    this.#claims.add(route, policy, { isEarly, isMarked: marked.has(route) })
    this.#compiled.set(route, policy)
    route.settle(policy)
    return problems
  }

  /** Whether a request was taken for one of this route. If not, it is from now on. */
  confirms(request: FastifyRequest, route: WrittenRoute): boolean {
    const policy = this.#compiled.get(route)
    const claimed = this.policyOf(request)
    if (policy === undefined || claimed === policy) return true
    this.#claims.correct(route, claimed)
    this.#policies.set(request.routeOptions.config, policy)
    return false
  }

  #firstPolicyOf({ config, exposeHeadRoute }: RouteOptions): Policy | null {
    // Only routes have the option `exposeHeadRoute`, and no request can change it. The url of a
    // config can be deleted.
    if (config.url === undefined) return exposeHeadRoute === undefined ? null : CLOSED
    return this.#claims.claim(config) ?? this.#policyOfUnknown(config)
  }

  /**
   * Before ready, no route is compiled. Without a list of all routes, an early route is known by
   * its requests only.
   */
  #policyOfUnknown(config: RouteOptions['config']): Policy {
    if (this.#isCompiled && this.#application !== undefined) {
      const { method, url } = config
      this.scope.log.error(
        { method, url },
        'tenant auth: a route was not known at boot; it is closed',
      )
      return CLOSED
    }
    // If other routes have this place too, only a declaration that was there at ready opens it.
    const declared = this.#claims.has(config) ? { ...config, noauth: false } : config
    return compilePolicy({ url: config.url, config: declared, strict: true }, this.#rules).policy
  }
}
