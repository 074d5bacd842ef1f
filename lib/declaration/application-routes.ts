import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { rootScope } from '../outside/fastify-scope.ts'
import { isObject } from '../outside/is-object.ts'
import { WrittenRoute } from './written-route.ts'

/** The routes of one application, of all its scopes. */
interface ApplicationRoutes {
  readonly routes: WrittenRoute[]
  /** Whether a guard of the application needs them. */
  isKept: boolean
}

/** By the root of each application. */
const applications = new WeakMap<object, ApplicationRoutes>()

/** Routes by their options. Two hooks may be told of one route. */
const known = new WeakMap<RouteOptions, WrittenRoute>()

// Fastify tells of each application that it makes. A hook that is added at that moment sees every
// route, with its scope.
subscribe('fastify.initialization', (message) => {
  if (!isInitialization(message)) return
  const { fastify } = message
  // Told of twice, it would lose the routes that it has by now.
  if (applications.has(fastify)) return
  const application: ApplicationRoutes = { routes: [], isKept: false }
  applications.set(fastify, application)
  fastify.addHook('onRoute', function (options) {
    application.routes.push(writtenRoute(this, options))
  })
  fastify.addHook('onReady', (done) => {
    // Without a guard, the routes need not live on.
    if (!application.isKept) application.routes.length = 0
    done()
  })
})

/**
 * Every route of an application, in the order of writing. Undefined if the application was made
 * before this package was loaded. Then a guard sees only the routes that are written below it and
 * after it.
 */
export function applicationRoutes(app: FastifyInstance): readonly WrittenRoute[] | undefined {
  return applications.get(rootScope(app))?.routes
}

/** As `applicationRoutes`. They live as long as the application. */
export function keepRoutes(app: FastifyInstance): readonly WrittenRoute[] | undefined {
  const application = applications.get(rootScope(app))
  if (application !== undefined) application.isKept = true
  return application?.routes
}

/** The route of these options, always the same one. */
export function writtenRoute(scope: FastifyInstance, options: RouteOptions): WrittenRoute {
  const route = known.get(options) ?? new WrittenRoute(scope, options)
  known.set(options, route)
  return route
}

/** Any code may publish on a channel of Node, and an exception here would end the process. */
function isInitialization(message: unknown): message is { fastify: FastifyInstance } {
  if (!isObject(message)) return false
  const { fastify } = message
  return isObject(fastify) && typeof fastify['addHook'] === 'function'
}
