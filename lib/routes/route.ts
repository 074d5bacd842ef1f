import type { FastifyInstance, RouteOptions } from 'fastify'
import { type Declared, readDeclaration } from './declaration.ts'
import { type Hidden, keysBesideNoauth, valuesIn } from './declaration-keys.ts'
import type { Policy } from './policy.ts'
import { withAndWithoutOptional } from './route-path.ts'

type Constraints = NonNullable<RouteOptions['constraints']>

interface RouterPlace {
  readonly method: string
  readonly url: string
}

/** The facts about a route that its options do not hold when Fastify takes it. */
export interface RouteFacts {
  readonly scope: FastifyInstance
  /** The url that Fastify gives to requests. An `onRoute` hook cannot change it. */
  readonly writtenUrl: string
  /** The declarations that a copy of its config loses. */
  readonly hidden: Hidden
  /** True: it is the `HEAD` twin of a `GET` route, which Fastify adds. */
  readonly isTwin: boolean
  /** The declarations beside its config. Another plugin may read those of an unguarded route. */
  readonly beside: Hidden
}

/**
 * A route as Fastify took it, after all `onRoute` hooks. It holds copies, so that nothing that the
 * application writes later changes it.
 */
export class Route {
  readonly scope: FastifyInstance
  readonly writtenUrl: string
  readonly url: string
  readonly methods: readonly string[]
  /** The constraints that distinguish it from other routes of its url, such as a version. */
  readonly constraints: Constraints
  readonly declared: Declared
  readonly problems: readonly string[]
  /**
   * Its declarations, apart from being open. If there are none: the mistakes that may have been
   * meant as one.
   */
  readonly declares: readonly string[]
  readonly paramsSchema: unknown
  readonly validatesBody: boolean
  /** True: it validates the query, the headers or the parameters of the path. */
  readonly validatesUrlOrHeaders: boolean
  /** True: @fastify/websocket takes its requests. */
  readonly isWebSocket: boolean
  /** Undefined until a guard has compiled it. */
  policy: Policy | undefined
  readonly #values: ReadonlyMap<string, unknown>
  /** Fastify refuses a route if one of its places is taken. A twin serves the places before it. */
  readonly #isRefused: boolean
  /** True: Fastify refused it after adding a part of it. Fastify cannot serve that part. */
  readonly isHalfAdded: boolean
  /** In the order in which the router adds them. One that may be cut has answers from before. */
  readonly #places: ReadonlyMap<RouterPlace, readonly boolean[]>

  constructor({ scope, writtenUrl, hidden, isTwin, beside }: RouteFacts, options: RouteOptions) {
    const { url, method, constraints, schema } = options
    const config: object = { ...options.config }
    const { declared, problems } = readDeclaration(config, new Map([...beside, ...hidden]))
    this.#values = valuesIn(config)
    const keys = keysBesideNoauth(this.#values)
    this.scope = scope
    this.writtenUrl = writtenUrl
    this.url = url
    this.methods = [method].flat()
    this.constraints = { ...constraints }
    this.declared = declared
    this.problems = problems
    const own = beside.size > 0 ? readDeclaration(config, hidden).problems : problems
    this.declares = keys.length > 0 ? [`declares ${keys.join(', ')}`] : own
    this.paramsSchema = schema?.params
    this.validatesBody = schema?.body !== undefined
    const parts = new Map(Object.entries(schema ?? {}))
    const others = ['querystring', 'query', 'headers', 'params']
    this.validatesUrlOrHeaders = others.some((part) => parts.get(part) !== undefined)
    this.isWebSocket =
      Reflect.get(options, 'websocket') === true || Reflect.has(options, 'wsHandler')
    const places = routerSpellings(url, scope).flatMap((each) =>
      this.methods.map((name) => ({ method: name, url: each })),
    )
    this.#places = new Map(
      places.map((place) => [place, isCut(scope, place) ? this.#answersFor(place) : []]),
    )
    const free = freePlaces(scope, places, this.constraints)
    this.#isRefused = free < (isTwin ? 1 : places.length)
    this.isHalfAdded = this.#isRefused && free > 0
  }

  /** True: our keys in a live config are still those that Fastify took. */
  agreesWith(config: object): boolean {
    const values = valuesIn(config)
    return [...this.#values].every(([key, value]) => Object.is(value, values.get(key)))
  }

  /** The methods that the router has it for. Complete once Fastify has taken it. */
  get routedMethods(): readonly string[] {
    if (this.#isRefused) return []
    return this.methods.filter((method) =>
      [...this.#places.keys()]
        .filter((place) => place.method === method)
        .every((place) => this.#isThere(place)),
    )
  }

  #isThere(place: RouterPlace): boolean {
    const routed = isRouted(this.scope, place, this.constraints)
    if (routed !== undefined) return routed
    // One of the two answers has changed: which one, the version of the router says.
    const before = this.#places.get(place)
    return this.#answersFor(place).some((isThere, index) => isThere && before?.[index] === false)
  }

  #answersFor({ method, url }: RouterPlace): boolean[] {
    return [url, `${url}/`].map((each) =>
      hasRoute(this.scope, { method, url: each }, this.constraints),
    )
  }
}

// Outside: Fastify's router, which only says whether it has a route, and may keep a route under
// another path than the declared one.

/**
 * The paths under which Fastify's router keeps a route. A route with an optional parameter becomes
 * two. Slashes are left out if the router ignores them.
 */
export function routerSpellings(url: string, app: FastifyInstance): string[] {
  const { ignoreTrailingSlash, ignoreDuplicateSlashes } = routerOptionsOf(app)
  return withAndWithoutOptional(url).map((each) => {
    // A lone `*` is kept below the root.
    const whole = each === '*' ? '/*' : each
    const single = ignoreDuplicateSlashes ? whole.replaceAll(/\/{2,}/g, '/') : whole
    return ignoreTrailingSlash ? single.replace(/(.)\/$/, '$1') : single
  })
}

interface RouterOptions {
  readonly ignoreTrailingSlash?: boolean | undefined
  readonly ignoreDuplicateSlashes?: boolean | undefined
}

/** An option may stand at the top, as before Fastify 5.5, or among the router's options. */
function routerOptionsOf({ initialConfig }: FastifyInstance): RouterOptions {
  const { ignoreTrailingSlash, ignoreDuplicateSlashes }: RouterOptions = initialConfig
  const router: RouterOptions = Object(Reflect.get(initialConfig, 'routerOptions'))
  return {
    ignoreTrailingSlash: router.ignoreTrailingSlash ?? ignoreTrailingSlash,
    ignoreDuplicateSlashes: router.ignoreDuplicateSlashes ?? ignoreDuplicateSlashes,
  }
}

/** The number of places before the first one that is taken, by another route or by itself. */
function freePlaces(
  scope: FastifyInstance,
  places: readonly RouterPlace[],
  constraints: Constraints,
): number {
  const own = new Set<string>()
  const taken = places.findIndex((place, index) => {
    own.add(`${place.method} ${place.url}`)
    return own.size === index || isRouted(scope, place, constraints) === true
  })
  return taken === -1 ? places.length : taken
}

/** Undefined: the router cannot be asked for it plainly. */
export function isRouted(
  app: FastifyInstance,
  place: RouterPlace,
  constraints: Constraints,
): boolean | undefined {
  return isCut(app, place) ? undefined : hasRoute(app, place, constraints)
}

/**
 * True: the router may cut off the slash at its end when it is asked for it. It does so since
 * find-my-way 9.10.2, and did not before.
 */
function isCut(app: FastifyInstance, { url }: RouterPlace): boolean {
  return /.\/$/.test(url) && routerOptionsOf(app).ignoreTrailingSlash === true
}

function hasRoute(app: FastifyInstance, place: RouterPlace, constraints: Constraints): boolean {
  try {
    return app.hasRoute({ ...place, constraints })
  } catch {
    // The router throws for a path that it cannot have.
    return false
  }
}
