import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { logLine } from '../platform/runtime/log-line.ts'
import { readDeclaration } from './declaration.ts'
import { isWithin } from './fastify-scope.ts'
import { CLOSED_POLICY, compilePolicy, type Policy, type PolicyRules } from './policy.ts'
import type { Route } from './route.ts'
import {
  applicationRoutes,
  type CapturedRoute,
  capturedRoute,
  routeOf,
  routesFromNowOn,
} from './route-capture.ts'

type RouteOptions = FastifyRequest['routeOptions']

/** The routes of one guarded scope, and the policy of each. */
export class RouteRegistry {
  readonly scope: FastifyInstance
  readonly #rules: PolicyRules
  readonly #isSound: (request: FastifyRequest) => boolean
  /** Those of all scopes of the application, as far as they can be known. */
  readonly known: readonly CapturedRoute[]
  /** False: the application was made before this package was loaded. */
  readonly #isAllKnown: boolean
  readonly #seen = new Set<CapturedRoute>()
  /** Policies by the config that Fastify made for the route. No code can replace it. */
  readonly #policies = new WeakMap<object, Policy>()
  #earlyProblems: readonly string[] = []
  #isCompiled = false

  /**
   * Collects the routes that are written from now on, and earlier ones if they are known.
   *
   * @param isSound whether a request carries what was decided, and no property of another scope
   * hides it
   */
  constructor(
    scope: FastifyInstance,
    rules: PolicyRules,
    isSound: (request: FastifyRequest) => boolean,
  ) {
    this.scope = scope
    this.#rules = rules
    this.#isSound = isSound
    const application = applicationRoutes(scope)
    this.known = application ?? routesFromNowOn(scope)
    this.#isAllKnown = application !== undefined
    const seen = this.#seen
    scope.addHook('onRoute', function (options) {
      seen.add(capturedRoute(this, options))
    })
  }

  /** The routes that `onRoute` saw, without those that Fastify refused to add. */
  get seen(): readonly Route[] {
    return added([...this.#seen])
  }

  /**
   * The routes below the scope that no `onRoute` saw: written before the plugin had loaded, or in a
   * scope that was there before. Undefined if they cannot be known; see `applicationRoutes`.
   */
  get early(): readonly Route[] | undefined {
    return this.#isAllKnown ? added(this.#writtenEarly) : undefined
  }

  /** The routes of the scope and below it that are known. */
  get routes(): readonly Route[] {
    return [...this.seen, ...added(this.#writtenEarly)]
  }

  get #writtenEarly(): readonly CapturedRoute[] {
    return this.known.filter((route) => !this.#seen.has(route) && isWithin(this.scope, route.scope))
  }

  /**
   * @param moreProblems further ones, of the compiled routes
   * @throws ERR_AUTH_ROUTE_INVALID with the problems of every route that was seen
   */
  compile(moreProblems: () => readonly string[]): void {
    const early = this.#writtenEarly
    const seen = [...this.#seen]
    this.#earlyProblems = this.#setPolicies(early, true)
    const problems = [
      ...this.#setPolicies(seen, false),
      ...halfAdded([...early, ...seen]),
      ...moreProblems(),
    ]
    if (problems.length > 0) throw new ERR_AUTH_ROUTE_INVALID(problems.join('\n'))
    this.#isCompiled = true
  }

  /** The mistakes in early routes. They do not stop the boot, because these are read strictly. */
  get earlyProblems(): readonly string[] {
    return this.#earlyProblems
  }

  /** Returns the problems. Those of a route with two urls stand there once. */
  #setPolicies(written: readonly CapturedRoute[], strict: boolean): string[] {
    const mistakes = written.flatMap(({ routes }) => {
      const found = routes.flatMap((route) => {
        const { policy, problems } = compilePolicy({ ...route, strict }, this.#rules)
        route.policy = policy
        return problems.length > 0 ? [{ route, found: problems.join('; ') }] : []
      })
      return found.slice(0, 1)
    })
    return routeProblems(mistakes)
  }

  /**
   * The policy of a request's route; null if no route matched. It is found once for each route, by
   * the handler that Fastify made for it. What an application writes into a config later changes no
   * policy.
   */
  policyOf(request: FastifyRequest): Policy | null {
    const { routeOptions } = request
    const known = this.#policies.get(routeOptions.config)
    if (known !== undefined) return known
    // An application that listens before it is ready has no policies yet.
    if (!this.#isCompiled && routeOf(routeOptions.handler) !== undefined) return CLOSED_POLICY
    if (!this.#isSound(request)) return CLOSED_POLICY
    const policy = this.#firstPolicyOf(routeOptions)
    if (policy !== null) this.#policies.set(routeOptions.config, policy)
    return policy
  }

  #firstPolicyOf({ handler, config, exposeHeadRoute }: RouteOptions): Policy | null {
    const route = routeOf(handler)
    // Only routes have the option `exposeHeadRoute`, and no request can change it. The url of a
    // config can be deleted.
    const isNoRoute = config.url === undefined && exposeHeadRoute === undefined
    // The not-found handler may be that of a route which Fastify has not taken, or not yet.
    if (isNoRoute && route?.policy === undefined) return null
    if (route !== undefined) return this.#confirmed(route, config)
    if (this.#isAllKnown) return this.#closed(config, 'was not known at boot')
    // In an application that was made before this package was loaded, early routes are known by
    // their requests only.
    const { declared, problems } = readDeclaration(config)
    return compilePolicy({ url: config.url, declared, problems, strict: true }, this.#rules).policy
  }

  /** A change of a live config cannot change the policy, so it closes the route. */
  #confirmed(route: Route, config: RouteOptions['config']): Policy {
    if (route.policy === undefined) return this.#closed(config, 'was not known at boot')
    if (route.agreesWith(config)) return route.policy
    return this.#closed(config, 'declares something else than it did at boot')
  }

  #closed({ method, url }: RouteOptions['config'], why: string): Policy {
    logLine(this.scope.log, 'error', `tenant auth: a route ${why}; it is closed`, { method, url })
    return CLOSED_POLICY
  }
}

/** A request for the part of a route that was added ends the process, early or not. */
function halfAdded(written: readonly CapturedRoute[]): string[] {
  const halves = written.flatMap(({ routes }) => routes).filter(({ isHalfAdded }) => isHalfAdded)
  const found = 'Fastify refused a part of it, since another route is there'
  return routeProblems(halves.map((route) => ({ route, found })))
}

export function added(written: readonly CapturedRoute[]): readonly Route[] {
  return written.flatMap(({ routes }) => routes).filter((route) => route.routedMethods.length > 0)
}

/** One line for each route. A mistake of a GET route in its HEAD twin is not repeated. */
export function routeProblems(
  problems: readonly { readonly route: Route; readonly found: string }[],
): string[] {
  const lines = problems.map(({ route: { methods, url }, found }) => ({
    methods: methods.join(', '),
    text: `${url}: ${found}`,
  }))
  const reported = new Set(lines.flatMap(({ methods, text }) => (methods === 'GET' ? [text] : [])))
  return lines
    .filter(({ methods, text }) => methods !== 'HEAD' || !reported.has(text))
    .map(({ methods, text }) => `${methods} ${text}`)
}
