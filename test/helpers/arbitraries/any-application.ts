import fc from 'fast-check'
import type { FastifyContextConfig, FastifyInstance, RouteOptions } from 'fastify'

/** What an `onRoute` hook of an application does to a route. */
const ROUTE_HOOKS = [
  'opens by a new config',
  'opens the config that is there',
  'closes by a new config',
  'merges into shared defaults',
  'gives the config of the first route',
  'copies the config of the first route over it',
  'keeps the config and opens it later',
  'gives a host',
  'gives a version',
  'gives one url to all',
  'puts a tenant before the url',
  'gives another method',
  'gives a list of methods',
  'mirrors the route without constraints',
  'mirrors the route below another url',
  'gives the handler of the first route',
  'binds the handler',
  'freezes the config',
] as const

/** What an `onRequest` hook that stands before the guard does to the live config of a route. */
const LIVE_HOOKS = [
  'opens',
  'closes',
  'copies the config of another route',
  'writes the url',
  'deletes the url',
] as const

const METHODS = ['GET', 'POST', 'PUT'] as const
const URLS = ['/', '/a', '/a/', '/b', '/:tenant/a', '/c/:id?', '/*'] as const
const CONSTRAINTS = [{}, { version: '1.0.0' }, { version: '2.0.0' }, { host: 'h.test' }]

/** A config by its place in the pool, or a copy of it. */
const anyConfig = fc.record({ index: fc.nat(7), isShared: fc.boolean() })

const anyRoute = fc.record({
  kind: fc.constant('route' as const),
  method: fc.oneof(
    fc.constantFrom(...METHODS),
    fc.uniqueArray(fc.constantFrom(...METHODS), { minLength: 1 }),
  ),
  url: fc.constantFrom(...URLS),
  config: fc.option(anyConfig),
  constraints: fc.constantFrom(...CONSTRAINTS),
  exposeHeadRoute: fc.boolean(),
})

const anyChange = fc.record({
  kind: fc.constant('change' as const),
  what: fc.constantFrom('opens a shared config', 'empties a list', 'replaces an id'),
})

const anyHook = fc.record({
  kind: fc.constant('hook' as const),
  what: fc.constantFrom(...ROUTE_HOOKS),
  /** Only routes whose url ends so; empty: all. */
  on: fc.constantFrom('', '', 'a', 'b', '/'),
})

const anyStep = fc.oneof(
  { weight: 5, arbitrary: anyRoute },
  { weight: 3, arbitrary: anyHook },
  { weight: 1, arbitrary: anyChange },
)

const anyScope = fc.record({
  prefix: fc.constantFrom('', '/p'),
  steps: fc.array(anyStep, { maxLength: 6 }),
})

/** A program of an application: what it does before the guard is registered, and after. */
export const anyApplication = fc.record({
  early: fc.array(anyStep, { maxLength: 4 }),
  earlyScopes: fc.array(anyScope, { maxLength: 1 }),
  live: fc.array(fc.constantFrom(...LIVE_HOOKS), { maxLength: 1 }),
  late: fc.array(anyStep, { minLength: 1, maxLength: 6 }),
  lateScopes: fc.array(anyScope, { maxLength: 2 }),
  after: fc.array(anyChange, { maxLength: 2 }),
})

export type AnyApplication = typeof anyApplication extends fc.Arbitrary<infer T> ? T : never
type Step = AnyApplication['late'][number]
type Config = FastifyContextConfig & { own?: number; url?: string | undefined }

/** What Fastify took when it bound the handler of a route. */
export interface Taken {
  readonly url: string
  readonly methods: readonly string[]
  readonly config: Config
}

/** Builds the application, and notes what Fastify takes. */
export class BuiltApplication {
  readonly app: FastifyInstance
  readonly taken: Taken[] = []
  readonly #program: AnyApplication
  readonly #list = ['a:b']
  readonly #pool: Config[]
  readonly #defaults: Config = {}
  readonly #kept: Config[] = []
  #first: RouteOptions | undefined
  /** The options that the last hook has seen, until Fastify has taken them. */
  #current: RouteOptions | undefined
  #isMirroring = false

  constructor(app: FastifyInstance, program: AnyApplication) {
    this.app = app
    this.#program = program
    const list = this.#list
    this.#pool = [
      { noauth: true },
      {},
      { require: 'a:b' },
      { require: list },
      { require: { any: list } },
      { tenant: true, require: 'c:d' },
      { tenant: 'required' },
      { own: 1 },
    ]
  }

  /** @param install registers the guard, or nothing */
  async build(install: () => PromiseLike<unknown>): Promise<void> {
    const { early, earlyScopes, live, late, lateScopes, after } = this.#program
    this.#do(this.app, early)
    await this.#scopes(earlyScopes)
    for (const what of live) this.#live(what)
    await install()
    this.#do(this.app, late)
    await this.#scopes(lateScopes)
    this.#do(this.app, after)
    for (const config of this.#kept) attempt(() => Object.assign(config, { noauth: true }))
  }

  async #scopes(scopes: AnyApplication['lateScopes']): Promise<void> {
    for (const { prefix, steps } of scopes) {
      await this.app.register(async (child) => this.#do(child, steps), { prefix })
    }
  }

  #do(scope: FastifyInstance, steps: readonly Step[]): void {
    for (const step of steps) {
      if (step.kind === 'hook') this.#hook(scope, step)
      else if (step.kind === 'change') this.#change(step.what)
      else attempt(() => this.#route(scope, step))
    }
  }

  #route(scope: FastifyInstance, { kind: _, config, ...route }: Step & { kind: 'route' }): void {
    // The last hook of the scope by now: it sees what Fastify will take.
    scope.addHook('onRoute', (options) => {
      this.#current = options
    })
    // The second url of a prefixed root is taken without a hook, after the twin of the first one.
    const isRoot = route.url === '/' && scope.prefix !== ''
    const exposeHeadRoute = route.exposeHeadRoute && !isRoot
    const pooled = config === null ? undefined : this.#pool[config.index]
    const given = config?.isShared ? pooled : pooled && { ...pooled }
    const handler = this.#handler()
    scope.route({ ...route, exposeHeadRoute, ...(given && { config: given }), handler })
  }

  /** Says which route has answered. Fastify binds it when it takes the route. */
  #handler(): RouteOptions['handler'] {
    const handler: RouteOptions['handler'] = async () => 'not bound'
    let last: RouteOptions | undefined
    const bind = (): RouteOptions['handler'] => {
      const options = this.#current ?? last
      if (options === undefined) return Object.assign(async () => 'not bound', { bind })
      this.#current = undefined
      last = options
      const index = this.taken.length
      this.taken.push({
        url: options.url,
        methods: [options.method].flat(),
        config: structuredClone({ ...options.config }),
      })
      const answer: RouteOptions['handler'] = async (_request, reply) =>
        void reply.header('x-taken', index).send('x')
      return Object.assign(answer, { bind })
    }
    return Object.assign(handler, { bind })
  }

  #hook(scope: FastifyInstance, { what, on }: Step & { kind: 'hook' }): void {
    const act = (route: RouteOptions, instance: FastifyInstance) => this.#act(what, route, instance)
    scope.addHook('onRoute', function (route) {
      if (route.url.endsWith(on)) act(route, this)
    })
  }

  #act(what: (typeof ROUTE_HOOKS)[number], route: RouteOptions, scope: FastifyInstance): void {
    this.#first ??= route
    const first = this.#first
    const config: Config = route.config ?? {}
    if (what === 'opens by a new config') route.config = { noauth: true }
    if (what === 'opens the config that is there') {
      attempt(() => Object.assign(config, { noauth: true, require: undefined, tenant: undefined }))
    }
    if (what === 'closes by a new config') route.config = { noauth: false, require: 'z:z' }
    if (what === 'merges into shared defaults') {
      route.config = Object.assign(this.#defaults, route.config)
    }
    if (what === 'gives the config of the first route' && first.config) route.config = first.config
    if (what === 'copies the config of the first route over it') {
      attempt(() => Object.assign(config, first.config))
    }
    if (what === 'keeps the config and opens it later') this.#kept.push(config)
    if (what === 'gives a host') route.constraints = { host: 'h.test' }
    if (what === 'gives a version') route.constraints = { version: '1.0.0' }
    if (what === 'gives one url to all') route.url = '/w'
    if (what === 'puts a tenant before the url') route.url = `/:tenant${route.url}`
    if (what === 'gives another method') route.method = 'POST'
    if (what === 'gives a list of methods') route.method = ['PUT', 'DELETE']
    if (what === 'mirrors the route without constraints') {
      this.#mirror(scope, { ...route, constraints: {} })
    }
    if (what === 'mirrors the route below another url') {
      this.#mirror(scope, { ...route, url: '/m' })
    }
    if (what === 'gives the handler of the first route') route.handler = first.handler
    if (what === 'binds the handler') route.handler = route.handler.bind(scope)
    if (what === 'freezes the config') Object.freeze(config)
  }

  #mirror(scope: FastifyInstance, route: RouteOptions): void {
    if (this.#isMirroring) return
    this.#isMirroring = true
    attempt(() => scope.route(route))
    this.#isMirroring = false
  }

  #change(what: string): void {
    if (what === 'opens a shared config') {
      attempt(() => Object.assign(this.#pool[2] ?? {}, { noauth: true }))
    }
    if (what === 'empties a list') this.#list.length = 0
    if (what === 'replaces an id') this.#list.splice(0, this.#list.length, 'z:z')
  }

  #live(what: AnyApplication['live'][number]): void {
    let other: Config = {}
    this.app.addHook('onRequest', async ({ routeOptions, is404 }) => {
      if (is404) return
      const config: Config = routeOptions.config
      if (what === 'opens') Object.assign(config, { noauth: true, require: undefined })
      if (what === 'closes') Object.assign(config, { noauth: undefined, require: 'z:z' })
      if (what === 'copies the config of another route') {
        Object.assign(config, other)
        other = config
      }
      if (what === 'writes the url') Object.assign(config, { url: '/a' })
      if (what === 'deletes the url') Object.assign(config, { url: undefined })
    })
  }
}

/** Fastify refuses some of the routes, and a frozen object each change. */
function attempt(work: () => unknown): void {
  try {
    work()
  } catch {}
}
