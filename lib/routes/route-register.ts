import type { FastifyInstance, RouteOptions } from 'fastify'
import { ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { compilePolicy, type Policy, type PolicyRules } from './policy.ts'

const kRoute = Symbol('fastify-tenant-auth.route')

/** A route that `onRoute` saw. Its policy is there from ready on. */
export class SeenRoute {
  readonly methods: readonly string[]
  readonly url: string
  readonly #options: RouteOptions
  policy: Policy | undefined

  constructor(options: RouteOptions) {
    this.methods = [options.method].flat()
    this.url = options.url
    this.#options = options
  }

  /** All of its urls: the root of a prefixed scope has one with a slash at the end too, of which `onRoute` is not told. */
  get urls(): readonly string[] {
    return [...new Set([this.url, this.#options.url])]
  }

  /** The `config` as it is after every `onRoute` hook. */
  get config(): object {
    return this.#options.config ?? {}
  }
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
      // What leads a request's config, which Fastify copies from the route's, back to the route.
      keep(options, 'config', (config) => ({ ...config, [kRoute]: route }))
      keep(options, 'onError', (hooks) => [...[hooks ?? []].flat(), tenantAuthSeen])
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
      route.policy = policy
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

/** Adds to an option of a route, and again to whatever a later `onRoute` hook puts in its place. */
function keep<Key extends 'config' | 'onError'>(
  options: RouteOptions,
  key: Key,
  add: (given: RouteOptions[Key]) => RouteOptions[Key],
): void {
  let value = add(options[key])
  Object.defineProperty(options, key, {
    configurable: true,
    enumerable: true,
    get: () => value,
    set: (given: RouteOptions[Key]) => {
      value = add(given)
    },
  })
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
