import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { ERR_AUTH_ROUTE_INVALID } from '../errors.ts'
import { compilePolicy, type Policy, type PolicyRules } from './policy.ts'
import type { Preflights } from './preflight.ts'
import { markedRoute, SeenRoute } from './seen-route.ts'

/** A request's config: Fastify's copy of its route's, with what it adds. */
interface RequestConfig {
  readonly method?: string | readonly string[] | undefined
  readonly url?: string | undefined
}

/** The routes of one guarded scope, and the policy of each. */
export class RouteRegister {
  /** Name of the hook that guards the scope. */
  readonly guardName: string
  readonly preflights: Preflights
  readonly #rules: PolicyRules
  readonly #seen: SeenRoute[] = []
  readonly #policies = new WeakMap<object, Policy | null>()
  /** Policies of seen routes whose config bears no mark, by the route's place. */
  readonly #unmarked = new Map<string, Policy[]>()
  #isCompiled = false

  constructor(guardName: string, rules: PolicyRules, preflights: Preflights) {
    this.guardName = guardName
    this.preflights = preflights
    this.#rules = rules
  }

  /** Learns of the routes that are written from now on. */
  watch(app: FastifyInstance): void {
    const seen = this.#seen
    app.addHook('onRoute', function (options) {
      seen.push(new SeenRoute(options, this))
    })
  }

  get seen(): readonly SeenRoute[] {
    return this.#seen
  }

  /** @throws ERR_AUTH_ROUTE_INVALID */
  compile(): void {
    for (const route of this.#seen) {
      const { methods, url, config } = route
      const { policy, problems } = compilePolicy({ url, config, tooEarly: false }, this.#rules)
      if (problems.length > 0) {
        const found = problems.join('; ')
        throw new ERR_AUTH_ROUTE_INVALID(`${methods.join(', ')} ${url}: ${found}`)
      }
      if (!route.isMarked) {
        const place = placeOf({ method: methods, url })
        this.#unmarked.set(place, [...this.#unmarkedAt(place), policy])
      }
      route.settlePreflights(policy, this.preflights)
      route.settle(policy)
    }
    this.#isCompiled = true
  }

  /**
   * The policy of the route whose context has this `config`; null where no route matched. Found out once: the config is one
   * live object for all requests, and what a handler writes to it must not open a route.
   */
  policyOf(config: RequestConfig): Policy | null {
    const known = this.#policies.get(config)
    if (known !== undefined) return known
    const policy = markedRoute(config)?.policy ?? this.#policyWithoutMark(config)
    // Before ready, what was seen is not compiled yet.
    if (this.#isCompiled) this.#policies.set(config, policy)
    return policy
  }

  /**
   * For a route that has no config of its own, or was written before the plugin had loaded: then nobody could refuse what is
   * wrong with it.
   */
  #policyWithoutMark(config: RequestConfig): Policy | null {
    const { url } = config
    if (url === undefined) return null
    const read = (declared: object): Policy =>
      compilePolicy({ url, config: declared, tooEarly: true }, this.#rules).policy
    const strict = read(config)
    const compiled = this.#unmarkedAt(placeOf(config))
    if (compiled.length === 0) return strict
    const same = compiled.find(({ declared }) => isDeepStrictEqual(declared, strict.declared))
    // What was not declared by ready opens nothing.
    return same ?? read({ ...config, noauth: false })
  }

  #unmarkedAt(place: string): readonly Policy[] {
    return this.#unmarked.get(place) ?? []
  }
}

function placeOf({ method, url }: RequestConfig): string {
  return `${method} ${url}`
}
