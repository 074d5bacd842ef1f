import { subscribe } from 'node:diagnostics_channel'
import type { FastifyInstance, RouteOptions } from 'fastify'
import { WrittenRoute } from './written-route.ts'

/** The routes of one application, whichever scope has written them. */
interface ApplicationRoutes {
  readonly routes: WrittenRoute[]
  /** Whether a guard of the application has asked for them. */
  isWanted: boolean
}

/** By the HTTP server, which all scopes of an application share. */
const applications = new WeakMap<object, ApplicationRoutes>()

/** Routes by their options, since two hooks may be told of one route. */
const known = new WeakMap<RouteOptions, WrittenRoute>()

// Fastify tells of each application that it makes. A hook that is there first sees every route, with its scope.
subscribe('fastify.initialization', (message) => {
  if (!isInitialization(message)) return
  const { fastify } = message
  const application: ApplicationRoutes = { routes: [], isWanted: false }
  applications.set(fastify.server, application)
  fastify.addHook('onRoute', function (options) {
    application.routes.push(writtenRoute(this, options))
  })
  fastify.addHook('onReady', (done) => {
    // Without a guard the options of the routes need not live on.
    if (!application.isWanted) application.routes.length = 0
    done()
  })
})

/**
 * Every route of an application, in the order of writing. Undefined where the application was made before this package
 * was loaded: then a guard sees only what is written below it, and after it.
 */
export function applicationRoutes(app: FastifyInstance): readonly WrittenRoute[] | undefined {
  const application = applications.get(app.server)
  if (application) application.isWanted = true
  return application?.routes
}

/** The route of these options, always the same one. */
export function writtenRoute(scope: FastifyInstance, options: RouteOptions): WrittenRoute {
  const route = known.get(options) ?? new WrittenRoute(scope, options)
  known.set(options, route)
  return route
}

function isInitialization(message: unknown): message is { fastify: FastifyInstance } {
  return typeof message === 'object' && message !== null && 'fastify' in message
}
