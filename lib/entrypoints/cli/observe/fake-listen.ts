import type { FastifyInstance } from 'fastify'
import { installedGuards } from '../../../guard/scopes.ts'
import { isObject } from '../../../platform/runtime/own-property.ts'
import { isWithin } from '../../../routes/fastify-scope.ts'
import { type CapturedRoute, capturedRoute } from '../../../routes/route-capture.ts'
import { type ListedPlace, type ListedRoute, routePlaces } from '../../../routes/route-list.ts'
import { added } from '../../../routes/route-registry.ts'

/** The part of a service that is used. The application may have another copy of the package. */
interface RouteLister {
  routes(app: object): ListedRoute[]
}

/**
 * A Fastify instance of a program that is watched. To listen, it only becomes ready: then its
 * routes are known, early ones too, because this package is there before the instance is made.
 */
export class WatchedApplication {
  readonly #scopes: FastifyInstance[]
  readonly #written: CapturedRoute[] = []
  readonly #onChange: () => void
  /** Where the application is told that it listens. */
  #address = { address: '127.0.0.1', family: 'IPv4', port: 80 }
  #listening: Promise<string> | undefined
  #hasListened = false
  #isReady = false
  #isClosed = false

  constructor(app: FastifyInstance, onChange: () => void) {
    this.#scopes = [app]
    this.#onChange = onChange
    const written = this.#written
    app.addHook('onRoute', function (options) {
      written.push(capturedRoute(this, options))
    })
    app.addHook('onRegister', (scope) => void this.#scopes.push(scope))
    app.addHook('onReady', async () => {
      this.#isReady = true
      this.#onChange()
    })
    app.addHook('onClose', async () => {
      this.#isClosed = true
      this.#onChange()
    })
    this.#pretend(app)
  }

  get hasListened(): boolean {
    return this.#hasListened
  }

  /** Whether it is guarded, as far as that is known by now. */
  get isGuarded(): boolean {
    return this.#services().length > 0
  }

  /** Whether it may yet be told to listen, and its routes matter. */
  get isAwaited(): boolean {
    return !this.#hasListened && !this.#isClosed && !(this.#isReady && !this.isGuarded)
  }

  /** The routes of all its guarded scopes. */
  routes(): ListedRoute[] {
    return this.#services().flatMap(({ scope, service }) => service.routes(scope))
  }

  /** The places of its routes that are outside of every guard. */
  uncovered(): ListedPlace[] {
    const guarded = this.#services().map(({ scope }) => scope)
    return added(this.#written)
      .filter((route) => !guarded.some((scope) => isWithin(scope, route.scope)))
      .flatMap(routePlaces)
  }

  /** Whether one of its guards runs in dev mode. Of another copy of the package it is not known. */
  get isInDevMode(): boolean {
    return this.#scopes.flatMap(installedGuards).some(({ loaded }) => loaded.settings.devMode)
  }

  #services(): { scope: FastifyInstance; service: RouteLister }[] {
    return this.#scopes.flatMap((scope) => {
      const service = Object.getOwnPropertyDescriptor(scope, 'authService')?.value
      return isRouteLister(service) ? [{ scope, service }] : []
    })
  }

  /** Both ways to listen: Fastify's own, and that of its server once the application is ready. */
  #pretend(app: FastifyInstance): void {
    const { server } = app
    Object.assign(app, {
      listen: (...args: unknown[]): Promise<string> | undefined => {
        const listening = this.#listen(app, args)
        const callback = args.find(isCallback)
        if (callback === undefined) return listening
        listening.then(
          (address) => setImmediate(callback, null, address),
          (error) => setImmediate(callback, error, null),
        )
        return undefined
      },
    })
    Object.assign(server, {
      listen: (...args: unknown[]) => {
        const callback = args.find(isCallback)
        if (callback !== undefined) server.once('listening', callback)
        this.#listen(app, args).then(
          () => setImmediate(() => server.emit('listening')),
          (error) => setImmediate(() => server.emit('error', error)),
        )
        return server
      },
      address: () => (this.#hasListened ? this.#address : null),
    })
  }

  /** Once: a program that listens a second time is told the same. */
  #listen(app: FastifyInstance, [where]: readonly unknown[]): Promise<string> {
    this.#listening ??= Promise.resolve(app.ready()).then(() => {
      const port = Number(isObject(where) ? where['port'] : where) || this.#address.port
      this.#address = { ...this.#address, port }
      this.#hasListened = true
      this.#onChange()
      return `http://${this.#address.address}:${port}`
    })
    return this.#listening
  }
}

type Callback = (...args: unknown[]) => void

function isCallback(value: unknown): value is Callback {
  return typeof value === 'function'
}

function isRouteLister(value: unknown): value is RouteLister {
  return isObject(value) && typeof value['routes'] === 'function'
}
