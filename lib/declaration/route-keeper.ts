import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import type { WrittenRoute } from './written-route.ts'

/** What the guard does for the routes of its scope. */
export interface RouteKeeper {
  /** Whether a request carries what was decided, and no property of another scope hides it. */
  isSound(request: FastifyRequest): boolean
  /**
   * Gives a hook for one route that shares its place with others. If a request was taken for one of
   * another route, the hook decides anew.
   */
  confirm(route: WrittenRoute): onRequestHookHandler
}
