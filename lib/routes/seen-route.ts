import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Policy } from './policy.ts'
import type { Preflights } from './preflight.ts'

const kRoute = Symbol('fastify-tenant-auth.route')

/** A route that `onRoute` saw. Its policy is there from ready on. */
export class SeenRoute {
  readonly methods: readonly string[]
  readonly url: string
  #options: Pick<RouteOptions, 'url' | 'config' | 'preParsing'>
  #scope: FastifyInstance | undefined
  #policy: Policy | undefined

  /**
   * Leaves its mark in the route's config, or rather in a copy, since routes may share one. A route without a config stays
   * without: one more property on each of ten thousand routes would be most of what the plugin adds to their boot.
   */
  constructor(options: RouteOptions, scope: FastifyInstance) {
    this.methods = Array.isArray(options.method) ? [...options.method] : [options.method]
    this.url = options.url
    if (options.config) options.config = Object.assign({}, options.config, { [kRoute]: this })
    this.#options = options
    this.#scope = scope
  }

  /** All of its urls: the root of a prefixed scope has one with a slash at the end too, of which `onRoute` is not told. */
  get urls(): readonly string[] {
    const last = this.#options.url
    return last === this.url ? [last] : [this.url, last]
  }

  get config(): object {
    return this.#options.config ?? {}
  }

  /** False where there was no config, or another `onRoute` hook has put its own in place. */
  get isMarked(): boolean {
    return markIn(this.config) === this
  }

  /** Before the route itself is settled. */
  settlePreflights(policy: Policy, preflights: Preflights): void {
    if (this.#scope) preflights.settle(policy, this.#options, this.#scope)
  }

  get policy(): Policy | undefined {
    return this.#policy
  }

  /** Once every plugin has loaded, and nothing of the options can change any more: they need not live as long as the route. */
  settle(policy: Policy): void {
    this.#policy = policy
    this.#options = { url: this.#options.url }
    this.#scope = undefined
  }
}

/** The route whose mark a request's config bears, unless the config came by it from another route's. */
export function markedRoute(config: { readonly url?: string | undefined }): SeenRoute | undefined {
  const route = markIn(config)
  return route?.url === config.url ? route : undefined
}

function markIn(config: object): SeenRoute | undefined {
  return kRoute in config && config[kRoute] instanceof SeenRoute ? config[kRoute] : undefined
}
