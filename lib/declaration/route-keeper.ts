import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Policy } from './policy.ts'
import type { FinalOptions, WrittenRoute } from './written-route.ts'

/** What the guard does for the routes of its scope. */
export interface RouteKeeper {
  /** Whether a request carries what was decided, and nothing of another scope stands before it. */
  isSound(request: FastifyRequest): boolean
  /** Told of each route, once, while its options are live. */
  keep(route: WrittenRoute): void
  /**
   * A hook of one route that shares its place with others. It decides anew where the route was
   * taken for another.
   */
  confirm(route: WrittenRoute): onRequestHookHandler
  /** Told of each route when its policy is known. */
  settle(policy: Policy, options: FinalOptions, scope: FastifyInstance): void
}
