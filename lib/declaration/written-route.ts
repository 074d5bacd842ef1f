import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { DECLARED_KEYS, hiddenDeclarations } from './declaration.ts'
import type { Policy } from './policy.ts'

const kRoute = Symbol('fastify-tenant-auth.route')

/** What counts of a route's options once every plugin has loaded. */
export type FinalOptions = Pick<RouteOptions, 'url' | 'config' | 'preParsing'>

/** A route that an application has written. Its options are live until every plugin has loaded. */
export class WrittenRoute {
  /** The scope that it is written in. */
  readonly scope: FastifyInstance
  /** All that it was written for. */
  readonly methods: readonly string[]
  /** Those of its methods that no route of this place had before: Fastify refuses the others. */
  readonly freeMethods: readonly string[]
  readonly url: string
  readonly #constraints: NonNullable<RouteOptions['constraints']>
  #options: FinalOptions
  #hidden: readonly string[] = []
  #policy: Policy | undefined

  constructor(scope: FastifyInstance, options: RouteOptions) {
    this.scope = scope
    this.methods = Array.isArray(options.method) ? [...options.method] : [options.method]
    this.url = options.url
    this.#options = options
    this.#constraints = options.constraints ?? {}
    this.freeMethods = this.methods.filter((method) => !this.#isRouted(method))
  }

  /** Those of its free methods that the router has a route for. It reads some paths in a way of its own. */
  get routedMethods(): readonly string[] {
    return this.freeMethods.filter((method) => this.#isRouted(method))
  }

  /** Whether another route, written later, has the place that was to be this one's: Fastify had refused this one. */
  isReplacedBy(other: WrittenRoute): boolean {
    return isDeepStrictEqual(this.#constraints, other.#constraints)
  }

  #isRouted(method: string): boolean {
    // The router keeps a lone `*` below its root.
    const url = this.url === '*' ? '/*' : this.url
    try {
      return this.scope.hasRoute({ method, url, constraints: this.#constraints })
    } catch {
      // The router throws at a path that it cannot have.
      return false
    }
  }

  /**
   * Gives the route a config of its own, which bears its mark: routes may share one, and what an `onRoute` hook writes
   * into it is meant for one of them. A route without a config stays without, since one more property on each of ten
   * thousand routes would be most of what the plugin adds to their boot.
   */
  mark(options: RouteOptions): void {
    if (!options.config) return
    this.#hidden = hiddenDeclarations(options.config)
    options.config = Object.assign({}, options.config, { [kRoute]: this })
  }

  /** The root of a prefixed scope has a second url, with a slash at its end. `onRoute` is not told of it. */
  get urls(): readonly string[] {
    const last = this.#options.url
    return last === this.url ? [last] : [this.url, last]
  }

  get config(): object {
    return this.#options.config ?? {}
  }

  /** What was wrong with the config that was copied, and is lost in the copy. */
  get hidden(): readonly string[] {
    return this.#hidden
  }

  /** The keys, but `noauth`, that it declares. */
  get declares(): readonly string[] {
    const values = new Map<string, unknown>(Object.entries(this.config))
    return DECLARED_KEYS.filter((key) => key !== 'noauth' && (values.get(key) ?? false) !== false)
  }

  get policy(): Policy | undefined {
    return this.#policy
  }

  /** Every plugin has loaded: the options cannot change any more, and need not live as long as the route. */
  settle(policy: Policy): FinalOptions {
    const options = this.#options
    this.#policy = policy
    this.#options = { url: options.url }
    return options
  }
}

/** The route whose mark a config bears. Whoever copies the config copies the mark. */
export function markIn(config: object): WrittenRoute | undefined {
  return kRoute in config && config[kRoute] instanceof WrittenRoute ? config[kRoute] : undefined
}

/** The values of our keys, by own properties. */
export function valuesIn(config: object): readonly unknown[] {
  return DECLARED_KEYS.map((key) => Object.getOwnPropertyDescriptor(config, key)?.value)
}
