import type { FastifyRequest } from 'fastify'
import type { WrittenRoute } from './written-route.ts'

/** What the guard does for the routes of its scope. */
export interface RouteKeeper {
  /** Whether a request carries what was decided, and no property of another scope hides it. */
  isSound(request: FastifyRequest): boolean
  /** Told of each route, once, while its options are live. */
  keep(route: WrittenRoute): void
}
