import type { FastifyInstance, RouteOptions } from 'fastify'
import { type Declared, readDeclaration } from './declaration.ts'
import { declaredBeside, type Hidden, valuesIn } from './declaration-keys.ts'
import type { Policy } from './policy.ts'
import { isRouted, routerPlaces } from './route-path.ts'

type Constraints = NonNullable<RouteOptions['constraints']>

/** What is known of a route when Fastify takes it. */
export interface RouteFacts {
  readonly scope: FastifyInstance
  /** The url that Fastify tells requests of. An `onRoute` hook cannot change it. */
  readonly writtenUrl: string
  /** What is wrong with its config, beyond what a copy of that shows. */
  readonly hidden: Hidden
  /** Whether Fastify has written it: the `HEAD` twin of a `GET` route. */
  readonly isTwin: boolean
  /** What is declared beside the config. Of an unguarded route, another plugin may read it. */
  readonly beside: Hidden
}

/**
 * A route as Fastify took it, after all `onRoute` hooks. It holds copies, so that nothing that the
 * application writes later changes it.
 */
export class Route {
  /** The scope that it is written in. */
  readonly scope: FastifyInstance
  readonly writtenUrl: string
  /** The path that the router has. */
  readonly url: string
  readonly methods: readonly string[]
  /** What tells it from other routes of its url, such as a version. */
  readonly constraints: Constraints
  readonly declared: Declared
  /** What is wrong with its declaration. */
  readonly problems: readonly string[]
  /**
   * What it declares, apart from being open. If that is nothing: what it may have been meant to
   * declare.
   */
  readonly declares: readonly string[]
  /** The schema of its path parameters. */
  readonly paramsSchema: unknown
  /** Whether @fastify/websocket takes its requests. */
  readonly isWebSocket: boolean
  /** Undefined until a guard has compiled it. */
  policy: Policy | undefined
  /** The values of its declaration, as they are in the config that Fastify took. */
  readonly #values: readonly unknown[]
  /** How many of its places are free, in the order in which the router adds them. */
  readonly #free: number
  readonly #isTwin: boolean
  readonly #places: readonly { readonly method: string; readonly url: string }[]

  constructor({ scope, writtenUrl, hidden, isTwin, beside }: RouteFacts, options: RouteOptions) {
    const { url, method, constraints, schema } = options
    const config: object = { ...options.config }
    const { declared, problems } = readDeclaration(config, new Map([...beside, ...hidden]))
    const keys = declaredBeside(new Map(Object.entries(config)))
    this.scope = scope
    this.#isTwin = isTwin
    this.writtenUrl = writtenUrl
    this.url = url
    this.methods = [method].flat()
    this.constraints = { ...constraints }
    this.declared = declared
    this.problems = problems
    const own = beside.size > 0 ? readDeclaration(config, hidden).problems : problems
    this.declares = keys.length > 0 ? [`declares ${keys.join(', ')}`] : own
    this.paramsSchema = schema?.params
    this.isWebSocket =
      Reflect.get(options, 'websocket') === true || Reflect.has(options, 'wsHandler')
    this.#values = valuesIn(config)
    this.#places = placesOf(scope, this.methods, url)
    this.#free = freePlaces(scope, this.#places, this.constraints)
  }

  /** Whether nothing was written into a live config since Fastify took it. */
  agreesWith(config: object): boolean {
    const values = valuesIn(config)
    return this.#values.every((value, index) => Object.is(value, values[index]))
  }

  /** Fastify refuses a route if one of its places is taken. A twin serves the places before it. */
  get #isRefused(): boolean {
    return this.#free < (this.#isTwin ? 1 : this.#places.length)
  }

  /** Whether Fastify refused it after adding a part of it. Fastify cannot serve that part. */
  get isHalfAdded(): boolean {
    return this.#isRefused && this.#free > 0
  }

  /** Those of its methods that the router has it for. Complete once Fastify has taken it. */
  get routedMethods(): readonly string[] {
    if (this.#isRefused) return []
    return this.methods.filter((method) =>
      this.#places
        .filter((place) => place.method === method)
        .every((place) => isRouted(this.scope, place, this.constraints)),
    )
  }
}

/** In the order in which the router adds them. */
function placesOf(scope: FastifyInstance, methods: readonly string[], url: string) {
  const urls = routerPlaces(scope, '', url).map((place) => place.url)
  return urls.flatMap((each) => methods.map((method) => ({ method, url: each })))
}

/** How many places precede the first one that is taken, by another route or by itself. */
function freePlaces(
  scope: FastifyInstance,
  places: readonly { readonly method: string; readonly url: string }[],
  constraints: Constraints,
): number {
  const names = places.map(({ method, url }) => `${method} ${url}`)
  const taken = places.findIndex(
    (place, index) =>
      isRouted(scope, place, constraints) || names.indexOf(names[index] ?? '') < index,
  )
  return taken === -1 ? places.length : taken
}
