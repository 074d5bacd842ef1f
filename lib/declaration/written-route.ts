import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, onRequestHookHandler, RouteOptions } from 'fastify'
import { isRouted, nameOf, type RouterPlace, routerPlaces } from '../outside/router-place.ts'
import { readDeclaration } from './declaration.ts'
import { declaredBeside } from './declared-keys.ts'
import { type Hidden, hiddenDeclarations } from './hidden-declarations.ts'
import type { Policy } from './policy.ts'
import { noteHints } from './route-hints.ts'

const kRoute = Symbol('fastify-tenant-auth.route')

/** The options of a route that count once every plugin has loaded. */
export type FinalOptions = Pick<
  RouteOptions,
  'method' | 'url' | 'constraints' | 'config' | 'onRequest' | 'preParsing' | 'preHandler' | 'schema'
>

/** A route that an application has written. Its options are live until every plugin has loaded. */
export class WrittenRoute {
  /** The scope that it is written in. */
  readonly scope: FastifyInstance
  /** The url that Fastify tells requests of. An `onRoute` hook cannot change it. */
  readonly writtenUrl: string
  /** The places where the router had a route already. Fastify refuses to add another one there. */
  readonly #taken: ReadonlySet<string>
  /** What was wrong with the config as it was written. A copy of the config loses it. */
  readonly hidden: Hidden
  #options: FinalOptions
  #policy: Policy | undefined

  constructor(scope: FastifyInstance, options: RouteOptions) {
    this.scope = scope
    this.writtenUrl = options.url
    // The application may keep its list of methods. A later change of that list would change what
    // Fastify tells of the route.
    if (Array.isArray(options.method)) options.method = [...options.method]
    this.#options = options
    this.hidden = hiddenDeclarations(this.config)
    const taken = this.#places().filter((place) => this.#isRouted(place))
    this.#taken = new Set(taken.map(nameOf))
  }

  /** All methods that it is written for. */
  get methods(): readonly string[] {
    return [this.#options.method].flat()
  }

  /** The path that the router has. */
  get url(): string {
    return this.#options.url
  }

  /**
   * The root of a prefixed scope has a second url, with a slash at its end. `onRoute` is not told
   * of it.
   */
  get urls(): readonly string[] {
    const { url } = this
    return url === `${this.writtenUrl}/` ? [this.writtenUrl, url] : [url]
  }

  /** Fastify reads them after all `onRoute` hooks. */
  get constraints(): NonNullable<RouteOptions['constraints']> {
    return this.#options.constraints ?? {}
  }

  get config(): object {
    const config: unknown = this.#options.config
    return typeof config === 'object' && config !== null ? config : {}
  }

  /** Those of its methods whose place was free when it was written. Fastify refuses the others. */
  get freeMethods(): readonly string[] {
    return this.methods.filter((method) =>
      this.#ofMethod(method).some((place) => !this.#isTaken(place)),
    )
  }

  /**
   * Those of its free methods that the router has a route for. The router reads some paths in a way
   * of its own.
   */
  get routedMethods(): readonly string[] {
    return this.freeMethods.filter((method) =>
      this.#ofMethod(method).every((place) => this.#isRouted(place)),
    )
  }

  /**
   * Whether Fastify refused the route after adding a part of it. Fastify cannot serve that part.
   */
  get isHalfAdded(): boolean {
    if (this.#taken.size === 0) return false
    return this.#places().some((place) => !this.#isTaken(place) && this.#isRouted(place))
  }

  /**
   * Whether another route, written later, has the place of this one. Then Fastify had refused this
   * one.
   */
  isReplacedBy(other: WrittenRoute): boolean {
    return isDeepStrictEqual(this.constraints, other.constraints)
  }

  /**
   * Gives the route a config of its own, which bears its mark. Routes may share one config, but
   * what an `onRoute` hook writes into it is meant for one of them. A route without a config gets
   * none: with ten thousand routes, that would be most of what the plugin adds to their boot.
   */
  mark(options: RouteOptions): void {
    if (options.config) options.config = Object.assign({}, options.config, { [kRoute]: this })
  }

  /** Lets a hook run before the route's own `onRequest` hooks. */
  prependOnRequest(hook: onRequestHookHandler): void {
    this.#options.onRequest = [hook, ...[this.#options.onRequest ?? []].flat()]
  }

  /**
   * What it declares, apart from being open. If that is nothing: what it may have been meant to
   * declare.
   */
  get declares(): readonly string[] {
    const keys = declaredBeside(new Map(Object.entries(this.config)))
    if (keys.length > 0) return [`declares ${keys.join(', ')}`]
    return readDeclaration(this.config, this.hidden).problems
  }

  get policy(): Policy | undefined {
    return this.#policy
  }

  /** Called when every plugin has loaded. The options cannot change any more: they are let go. */
  settle(policy: Policy): FinalOptions {
    const options = this.#options
    this.#policy = policy
    noteHints(this, options)
    const { method, url, constraints } = options
    this.#options = { method, url, ...(constraints && { constraints }) }
    return options
  }

  #places(): RouterPlace[] {
    return this.methods.flatMap((method) => this.#ofMethod(method))
  }

  #ofMethod(method: string): RouterPlace[] {
    return routerPlaces(this.scope, method, this.url)
  }

  #isTaken(place: RouterPlace): boolean {
    return this.#taken.has(nameOf(place))
  }

  #isRouted(place: RouterPlace): boolean {
    return isRouted(this.scope, place, this.constraints)
  }
}

/** The route whose mark a config bears. A copy of the config has the mark too. */
export function markIn(config: object): WrittenRoute | undefined {
  return kRoute in config && config[kRoute] instanceof WrittenRoute ? config[kRoute] : undefined
}
