import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { isWithin } from '../outside/fastify-scope.ts'
import { applicationRoutes, writtenRoute } from './application-routes.ts'
import { CLOSED, compilePolicy, type Policy, type PolicyRules } from './policy.ts'
import { placeName, RouteClaims } from './route-claims.ts'
import { type FinalOptions, markIn, type WrittenRoute } from './written-route.ts'

type RouteOptions = FastifyRequest['routeOptions']
type RequestConfig = RouteOptions['config']

/** What the guard does for the routes of its scope. */
export interface RouteKeeper {
  /** Whether a request carries what was decided, and nothing of another scope stands before it. */
  isSound(request: FastifyRequest): boolean
  /** Told of each route that was seen, when its policy is known. */
  settle(policy: Policy, options: FinalOptions, scope: FastifyInstance): void
}

/** The routes of one guarded scope, and the policy of each. */
export class RouteRegister {
  readonly scope: FastifyInstance
  /** Name of the hook that guards the scope. */
  readonly guardName: string
  readonly #rules: PolicyRules
  readonly #keeper: RouteKeeper
  readonly #application: readonly WrittenRoute[] | undefined
  readonly #seen = new Set<WrittenRoute>()
  readonly #policies = new WeakMap<object, Policy | null>()
  readonly #claims: RouteClaims
  #isCompiled = false

  constructor(scope: FastifyInstance, guardName: string, rules: PolicyRules, keeper: RouteKeeper) {
    this.scope = scope
    this.guardName = guardName
    this.#rules = rules
    this.#keeper = keeper
    this.#application = applicationRoutes(scope)
    this.#claims = new RouteClaims(this.#application !== undefined)
  }

  /** Learns of the routes that are written from now on. */
  watch(): void {
    const seen = this.#seen
    this.scope.addHook('onRoute', function (options) {
      const route = writtenRoute(this, options)
      route.mark(options)
      seen.add(route)
    })
  }

  /** The routes that `onRoute` saw, without those that Fastify refused to add. */
  get seen(): readonly WrittenRoute[] {
    return added([...this.#seen])
  }

  /**
   * The routes below the scope that no `onRoute` saw: written before the plugin had loaded, or in a scope that was there
   * before. Undefined where they cannot be known, see `applicationRoutes`.
   */
  get early(): readonly WrittenRoute[] | undefined {
    const early = this.#application?.filter(
      (route) => !this.#seen.has(route) && isWithin(this.scope, route.scope),
    )
    return early && added(early)
  }

  /** @throws ERR_AUTH_ROUTE_INVALID with the problems of every route that was seen */
  compile(): void {
    const { seen, early = [] } = this
    const marks = countMarks([...seen, ...early])
    // Early ones first: where two routes cannot be told apart, the stricter reading counts.
    for (const route of early) this.#compileRoute(route, true, marks)
    const problems = seen.flatMap((route) => {
      const found = this.#compileRoute(route, false, marks)
      return found.length > 0 ? [{ route, found: found.join('; ') }] : []
    })
    if (problems.length > 0) throw new ERR_AUTH_ROUTE_INVALID(tell(problems))
    this.#isCompiled = true
  }

  /**
   * The policy of a request's route; null where no route matched. Found out once for each config of Fastify's: that is
   * one live object for all requests, and what an application writes into it later changes no policy.
   */
  policyOf(request: FastifyRequest): Policy | null {
    const { routeOptions } = request
    const known = this.#policies.get(routeOptions.config)
    if (known !== undefined) return known
    const policy = this.#keeper.isSound(request) ? this.#firstPolicyOf(routeOptions) : CLOSED
    // Before ready the policies are not compiled yet.
    if (this.#isCompiled) this.#policies.set(routeOptions.config, policy)
    return policy
  }

  #compileRoute(
    route: WrittenRoute,
    isEarly: boolean,
    marks: ReadonlyMap<WrittenRoute, number>,
  ): string[] {
    const { url, config } = route
    const { policy, problems } = compilePolicy({ url, config, strict: isEarly }, this.#rules)
    const isMarked = markIn(config) === route && marks.get(route) === 1
    this.#claims.add(route, policy, { isEarly, isMarked })
    // Of a route that no `onRoute` saw the tools know nothing but that it is guarded.
    if (!isEarly) this.#keeper.settle(policy, route.settle(policy), route.scope)
    return [...route.hidden, ...problems]
  }

  #firstPolicyOf({ config, exposeHeadRoute }: RouteOptions): Policy | null {
    // Only routes have this option, and no request can change it. Their urls can be deleted.
    if (config.url === undefined) return exposeHeadRoute === undefined ? null : CLOSED
    return this.#claims.claim(config) ?? this.#policyOfUnknown(config)
  }

  /** Before ready no route is compiled. Without a list of all routes, an early one is known by its requests only. */
  #policyOfUnknown(config: RequestConfig): Policy {
    if (this.#isCompiled && this.#application !== undefined) return CLOSED
    // In a place that other routes have too, what was not declared by ready opens nothing.
    const declared = this.#claims.has(config) ? { ...config, noauth: false } : config
    return compilePolicy({ url: config.url, config: declared, strict: true }, this.#rules).policy
  }
}

/** One line for each route. What is wrong with a GET route is wrong with its HEAD twin, and told once. */
function tell(problems: readonly { readonly route: WrittenRoute; readonly found: string }[]) {
  const lines = problems.map(({ route: { methods, url }, found }) => ({
    methods: methods.join(', '),
    text: `${url}: ${found}`,
  }))
  const told = new Set(lines.flatMap(({ methods, text }) => (methods === 'GET' ? [text] : [])))
  return lines
    .filter(({ methods, text }) => methods !== 'HEAD' || !told.has(text))
    .map(({ methods, text }) => `${methods} ${text}`)
    .join('\n')
}

/** How many routes' configs bear each mark. */
function countMarks(routes: readonly WrittenRoute[]): ReadonlyMap<WrittenRoute, number> {
  const counts = new Map<WrittenRoute, number>()
  for (const { config } of routes) {
    const marked = markIn(config)
    if (marked) counts.set(marked, (counts.get(marked) ?? 0) + 1)
  }
  return counts
}

/** Without the routes that Fastify refused: their place was taken, or was free still for another like them. */
function added(routes: readonly WrittenRoute[]): readonly WrittenRoute[] {
  const later = new Map<string, WrittenRoute[]>()
  const kept = routes.toReversed().filter((route) => {
    const place = placeName({ method: route.methods, url: route.url })
    const alike = later.get(place) ?? []
    later.set(place, alike)
    if (route.freeMethods.length === 0 || alike.some((other) => route.isReplacedBy(other))) {
      return false
    }
    alike.push(route)
    return true
  })
  return kept.reverse()
}
