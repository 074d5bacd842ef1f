import type { FastifyInstance, RouteOptions } from 'fastify'
import { isObject } from '../outside/is-object.ts'
import { declarationsBeside, hiddenDeclarations } from './hidden-declarations.ts'
import { Route, type RouteFacts } from './route.ts'

type Handler = RouteOptions['handler']

/** The routes that Fastify has taken, each by the handler that it made for it. */
const taken = new WeakMap<object, Route>()

/** The handlers of the application, by what stands for them in the options of a route. */
const originals = new WeakMap<object, Handler>()

/**
 * The route of a handler that Fastify calls. A handler is no part of a config, and nobody else has
 * it, so that no copy of a config and no change of one leads to another route.
 */
export function routeOf(handler: object): Route | undefined {
  return taken.get(handler)
}

/** Lets a handler stand for another one, which Fastify made for a route. */
export function standFor(original: object, handler: object): void {
  const route = taken.get(original)
  if (route !== undefined) taken.set(handler, route)
}

/**
 * The option of a route by which the copies of this package in one process share what one of them
 * notices. No copy of the options has it.
 */
const TAKERS = Symbol.for('fastify-tenant-auth.takers')

/**
 * A route that an application is writing. Fastify makes a handler of its own for each route, by
 * `handler.bind(scope)`, after all `onRoute` hooks and just before it gives method, url and
 * constraints to the router. At that moment the options are what Fastify takes.
 */
export class WrittenRoute {
  readonly scope: FastifyInstance
  readonly #taken = new Map<string, Route>()
  readonly #takers = new Set([(scope: FastifyInstance, bound: Handler) => this.#take(scope, bound)])
  readonly #options: RouteOptions
  readonly #facts: Omit<RouteFacts, 'beside'>

  /** @param options those of Fastify's own, as an `onRoute` hook gets them */
  constructor(scope: FastifyInstance, options: RouteOptions) {
    this.scope = scope
    this.#options = options
    // A copy of the config loses what is wrong with it as it was written.
    const hidden = hiddenDeclarations(configOf(options))
    this.#facts = { scope, writtenUrl: options.url, hidden }
    // Routes may share a config and a list of methods. What a hook writes is meant for one of them.
    if (isObject(options.config)) options.config = { ...options.config }
    if (Array.isArray(options.method)) options.method = [...options.method]
    const takers: unknown = Object.getOwnPropertyDescriptor(options, TAKERS)?.value
    if (takers instanceof Set) {
      for (const take of this.#takers) takers.add(take)
      return
    }
    Object.defineProperty(options, TAKERS, { value: this.#takers })
    this.#standIn(options.handler)
  }

  /** One for each url: the root of a prefixed scope has two. */
  get taken(): readonly Route[] {
    return [...this.#taken.values()]
  }

  /** A hook may give the route another handler, or that of another route. */
  #standIn(handler: Handler): void {
    let standing = this.#standingFor(handler)
    Object.defineProperty(this.#options, 'handler', {
      get: () => standing,
      set: (given: Handler) => {
        standing = this.#standingFor(given)
      },
      enumerable: true,
      configurable: false,
    })
  }

  /** A handler like the given one, by which it is noticed that Fastify takes the route. */
  #standingFor(given: Handler): Handler {
    if (typeof given !== 'function') return given
    const handler = originals.get(given) ?? given
    const bind = (scope: FastifyInstance): Handler => {
      const made: Handler = handler.bind(scope)
      // A function may have a `bind` of its own, which makes nothing new.
      const bound = taken.has(made) || made === handler ? copyOf(made) : made
      for (const take of this.#takers) take(scope, bound)
      return bound
    }
    // Of a property that is fixed, a proxy may tell nothing else.
    const isFixed = Object.getOwnPropertyDescriptor(handler, 'bind')?.configurable === false
    const standing = new Proxy(isFixed ? copyOf(handler) : handler, {
      get: (_, key) => (key === 'bind' ? bind : Reflect.get(handler, key)),
    })
    originals.set(standing, handler)
    return standing
  }

  /**
   * An application may bind the handler, too. Before Fastify has done it, what is taken last
   * counts, and after that nothing. A route in a scope that no hook of ours is in may have been
   * made of the options of this one.
   */
  #take(scope: FastifyInstance, bound: Handler): void {
    if (scope !== this.scope) return
    for (const [url, before] of this.#taken) {
      if (before.routedMethods.length === 0) this.#taken.delete(url)
    }
    if (this.#taken.has(this.#options.url)) return
    const config = configOf(this.#options)
    const hidden = new Map([...hiddenDeclarations(config), ...this.#facts.hidden])
    const beside = declarationsBeside(this.#options, config)
    const route = new Route({ ...this.#facts, hidden, beside }, this.#options)
    this.#taken.set(route.url, route)
    taken.set(bound, route)
  }
}

function copyOf(handler: Handler): Handler {
  return function (...args) {
    return Reflect.apply(handler, this, args)
  }
}

function configOf({ config }: RouteOptions): object {
  return isObject(config) ? config : {}
}
