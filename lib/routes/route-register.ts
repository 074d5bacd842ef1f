import type { FastifyInstance, RouteOptions } from 'fastify'
import { ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { compilePolicy, type Policy, type PolicyRules } from './policy.ts'

const kRoute = Symbol('fastify-tenant-auth.route')

/** A route that `onRoute` saw. Its policy is there from ready on. */
export class SeenRoute {
  readonly methods: readonly string[]
  readonly url: string
  #options: { readonly url: string }
  #policy: Policy | undefined
  #config: object = {}
  #onError: RouteOptions['onError']

  constructor(options: RouteOptions) {
    this.methods = [options.method].flat()
    this.url = options.url
    this.#options = options
    this.config = options.config
    this.onError = options.onError
  }

  /** All of its urls: the root of a prefixed scope has one with a slash at the end too, of which `onRoute` is not told. */
  get urls(): readonly string[] {
    return [...new Set([this.url, this.#options.url])]
  }

  get policy(): Policy | undefined {
    return this.#policy
  }

  /** Once every plugin has loaded, and nothing of the options can change any more: they need not live as long as the route. */
  settle(policy: Policy): void {
    this.#policy = policy
    this.#options = { url: this.#options.url }
  }

  /** With what leads a request's config, which Fastify copies from the route's, back to the route. */
  get config(): object {
    return this.#config
  }

  set config(given: object | undefined) {
    this.#config = { ...given, [kRoute]: this }
  }

  /** With the trace that the route was seen. */
  get onError(): RouteOptions['onError'] {
    return this.#onError
  }

  set onError(given: RouteOptions['onError']) {
    this.#onError = [...[given ?? []].flat(), tenantAuthSeen]
  }
}

/**
 * In place of a route's options that a later `onRoute` hook may replace. The same functions for every route: of its own
 * each would need a shape of its own in the engine.
 */
const KEPT: PropertyDescriptorMap & ThisType<{ [kRoute]: SeenRoute }> = {
  config: {
    configurable: true,
    enumerable: true,
    get() {
      return this[kRoute].config
    },
    set(given) {
      this[kRoute].config = given
    },
  },
  onError: {
    configurable: true,
    enumerable: true,
    get() {
      return this[kRoute].onError
    },
    set(given) {
      this[kRoute].onError = given
    },
  },
}

/** The routes of one guarded scope, and the policy of each. */
export class RouteRegister {
  /** Name of the hook that guards the scope. */
  readonly guardName: string
  readonly #rules: PolicyRules
  readonly #seen: SeenRoute[] = []
  readonly #policies = new WeakMap<object, Policy | null>()
  #isCompiled = false

  constructor(guardName: string, rules: PolicyRules) {
    this.guardName = guardName
    this.#rules = rules
  }

  /** Learns of the routes that are written from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (options) => {
      const route = new SeenRoute(options)
      this.#seen.push(route)
      Object.defineProperties(Object.assign(options, { [kRoute]: route }), KEPT)
    })
  }

  get seen(): readonly SeenRoute[] {
    return this.#seen
  }

  /** @throws ERR_AUTH_ROUTE_INVALID */
  compile(): void {
    for (const route of this.#seen) {
      const { url, config } = route
      const { policy, problems } = compilePolicy({ url, config, tooEarly: false }, this.#rules)
      if (problems.length > 0) {
        const found = problems.join('; ')
        throw new ERR_AUTH_ROUTE_INVALID(`${route.methods.join(', ')} ${url}: ${found}`)
      }
      route.settle(policy)
    }
    this.#isCompiled = true
  }

  /**
   * The policy of the route whose context has this `config`; null where no route matched. Found out once: the config is one
   * live object for all requests, and what a handler writes to it must not open a route.
   */
  policyOf(config: { readonly url?: string | undefined }): Policy | null {
    const known = this.#policies.get(config)
    if (known !== undefined) return known
    const policy = this.#findPolicy(config)
    // Before ready, what was seen is not compiled yet.
    if (this.#isCompiled) this.#policies.set(config, policy)
    return policy
  }

  #findPolicy(config: { readonly url?: string | undefined; readonly [kRoute]?: SeenRoute }) {
    const seen = config[kRoute]?.policy
    if (seen) return seen
    const { url } = config
    if (url === undefined) return null
    // Written before the plugin had loaded: nobody could refuse what is wrong with it.
    return compilePolicy({ url, config, tooEarly: true }, this.#rules).policy
  }
}

/** Leaves a trace, in the only place where Fastify prints one, on each route that was seen. Runs when a request fails, and does nothing. */
export function tenantAuthSeen(
  _request: unknown,
  _reply: unknown,
  _error: unknown,
  done: () => void,
): void {
  done()
}
