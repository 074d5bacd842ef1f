import { subscribe } from 'node:diagnostics_channel'
import { types } from 'node:util'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { isObject } from '../platform/runtime/own-property.ts'
import { hiddenDeclarations, keysBesideConfig } from './declaration-keys.ts'
import { rootScope, scopesWithin } from './fastify-scope.ts'
import { Route, type RouteFacts } from './route.ts'

/** The routes of one application, of all its scopes. */
interface ApplicationRoutes {
  readonly routes: CapturedRoute[]
  /** True: a guard needs them. */
  isKept: boolean
}

/** The key is the root of an application. */
const applications = new WeakMap<object, ApplicationRoutes>()

/** Routes by their options. Two hooks may see one route. */
const capturedRoutes = new WeakMap<RouteOptions, CapturedRoute>()

// Fastify publishes each application that it makes. A hook that is added at that moment sees every
// route, with its scope.
subscribe('fastify.initialization', (message) => {
  if (!isInitialization(message)) return
  const { fastify } = message
  // Published twice, it would lose the routes that it has by now.
  if (applications.has(fastify)) return
  const application: ApplicationRoutes = { routes: [], isKept: false }
  applications.set(fastify, application)
  fastify.addHook('onRoute', function (options) {
    application.routes.push(capturedRoute(this, options))
  })
  fastify.addHook('onReady', (done) => {
    // Without a guard, the routes need not live on.
    if (!application.isKept) application.routes.length = 0
    done()
  })
})

/**
 * Every route of an application, in the order of writing, for as long as the application lives.
 * Undefined if the application was made before this package was loaded: then only those are known
 * that `routesFromNowOn` has.
 */
export function applicationRoutes(app: FastifyInstance): readonly CapturedRoute[] | undefined {
  const application = applications.get(rootScope(app))
  if (application !== undefined) application.isKept = true
  return application?.routes
}

/** The later routes of applications that were made before, by their roots. */
const laterRoutes = new WeakMap<object, CapturedRoute[]>()

/** The routes that are written from now on, in all scopes. */
export function routesFromNowOn(app: FastifyInstance): readonly CapturedRoute[] {
  const root = rootScope(app)
  const known = laterRoutes.get(root)
  if (known !== undefined) return known
  const routes: CapturedRoute[] = []
  laterRoutes.set(root, routes)
  // Only scopes that are made later have the hooks of the scope around them.
  for (const scope of scopesWithin(root)) {
    scope.addHook('onRoute', function (options) {
      routes.push(capturedRoute(this, options))
    })
  }
  return routes
}

/** The route of these options, always the same one. */
export function capturedRoute(scope: FastifyInstance, options: RouteOptions): CapturedRoute {
  const route = capturedRoutes.get(options) ?? new CapturedRoute(scope, options)
  capturedRoutes.set(options, route)
  return route
}

/** Any code may publish on a channel of Node, and an exception here would end the process. */
export function isInitialization(message: unknown): message is { fastify: FastifyInstance } {
  if (!isObject(message)) return false
  const { fastify } = message
  return isObject(fastify) && typeof fastify['addHook'] === 'function'
}

type Handler = RouteOptions['handler']

// Fastify binds a handler once, when it adds the route. A proxy of the handler notices that.

/** The routes that Fastify has taken, each by the handler that it made for it. */
const routesByHandler = new WeakMap<object, Route>()

/** The route that Fastify has added last. It writes the `HEAD` twin of a `GET` route at once. */
let lastAdded:
  | { readonly scope: FastifyInstance; readonly url: string; readonly handler: Handler }
  | undefined

/** The handlers of the application, by what stands for them in the options of a route. */
const originals = new WeakMap<object, Handler>()

/**
 * The route of a handler that Fastify calls. A handler is no part of a config, and nobody else has
 * it, so that no copy of a config and no change of one leads to another route.
 */
export function routeOf(handler: object): Route | undefined {
  return routesByHandler.get(handler)
}

/** Lets a handler stand for another one, which Fastify made for a route. */
export function aliasHandler(original: object, handler: object): void {
  const route = routesByHandler.get(original)
  if (route !== undefined) routesByHandler.set(handler, route)
}

/**
 * The option of a route by which the copies of this package in one process share the routes that
 * Fastify takes. No copy of the options has it.
 */
const TAKERS = Symbol.for('fastify-tenant-auth.takers')

/**
 * A route that an application is writing. Fastify makes a handler of its own for each route, by
 * `handler.bind(scope)`, after all `onRoute` hooks and just before it gives method, url and
 * constraints to the router. At that moment the options are what Fastify takes.
 */
export class CapturedRoute {
  readonly scope: FastifyInstance
  /** One for each url: the root of a prefixed scope has two. */
  routes: readonly Route[] = []
  readonly #takers = new Set([(scope: FastifyInstance, bound: Handler) => this.#take(scope, bound)])
  readonly #options: RouteOptions
  readonly #facts: Omit<RouteFacts, 'beside'>

  /** @param options those of Fastify's own, as an `onRoute` hook gets them */
  constructor(scope: FastifyInstance, options: RouteOptions) {
    this.scope = scope
    this.#options = options
    const config = configOf(options)
    // A copy of the config loses them.
    const hidden = hiddenDeclarations(config)
    const handler = originals.get(options.handler) ?? options.handler
    const isTwin =
      options.method === 'HEAD' &&
      lastAdded?.scope === scope &&
      lastAdded.url === options.url &&
      lastAdded.handler === handler
    this.#facts = { scope, writtenUrl: options.url, hidden, isTwin }
    // Routes may share a config and a list of methods. What a hook writes is meant for one of them.
    if (options.config === config) options.config = { ...config }
    if (Array.isArray(options.method)) options.method = [...options.method]
    const takers: unknown = Object.getOwnPropertyDescriptor(options, TAKERS)?.value
    // Jest loads a copy for each test file, and gives each copy a Set of its own.
    if (types.isSet(takers)) {
      for (const take of this.#takers) takers.add(take)
      return
    }
    Object.defineProperty(options, TAKERS, { value: this.#takers })
    this.#watch(options.handler)
  }

  /** A hook may give the route another handler, or that of another route. */
  #watch(handler: Handler): void {
    let standIn = this.#standInFor(handler)
    Object.defineProperty(this.#options, 'handler', {
      get: () => standIn,
      set: (given: Handler) => {
        standIn = this.#standInFor(given)
      },
      enumerable: true,
      configurable: false,
    })
  }

  /** A handler like the given one, which notices that Fastify takes the route. */
  #standInFor(given: Handler): Handler {
    if (typeof given !== 'function') return given
    const handler = originals.get(given) ?? given
    const bindAsTaken = (scope: FastifyInstance): Handler => {
      lastAdded = { scope, url: this.#facts.writtenUrl, handler }
      const made: Handler = handler.bind(scope)
      // A function may have a `bind` of its own, which makes nothing new.
      const bound = routesByHandler.has(made) || made === handler ? copyOf(made) : made
      for (const take of this.#takers) take(scope, bound)
      return bound
    }
    function bind(this: unknown, ...args: [scope: FastifyInstance]): unknown {
      // A function that a hook wraps around the stand-in finds this `bind`, too.
      return this === standIn
        ? bindAsTaken(...args)
        : Reflect.apply(Function.prototype.bind, this, args)
    }
    // A proxy must return the value of a property that is fixed.
    const isFixed = Object.getOwnPropertyDescriptor(handler, 'bind')?.configurable === false
    const standIn = new Proxy(isFixed ? copyOf(handler) : handler, {
      get: (_, key) => (key === 'bind' ? bind : Reflect.get(handler, key)),
    })
    originals.set(standIn, handler)
    return standIn
  }

  /**
   * An application may bind the handler, too. Before Fastify has done it, what is taken last
   * counts, and after that nothing. A route in a scope that no hook of ours is in may have been
   * made of the options of this one.
   */
  #take(scope: FastifyInstance, bound: Handler): void {
    if (scope !== this.scope) return
    this.routes = this.routes.filter(({ routedMethods }) => routedMethods.length > 0)
    if (this.routes.some(({ url }) => url === this.#options.url)) return
    const config = configOf(this.#options)
    const hidden = new Map([...hiddenDeclarations(config), ...this.#facts.hidden])
    const beside = keysBesideConfig(this.#options, config)
    const route = new Route({ ...this.#facts, hidden, beside }, this.#options)
    this.routes = [...this.routes, route]
    routesByHandler.set(bound, route)
  }
}

function copyOf(handler: Handler): Handler {
  return function (...args) {
    return Reflect.apply(handler, this, args)
  }
}

/** Empty: it has none. */
function configOf({ config }: RouteOptions): object {
  return Object(config)
}
