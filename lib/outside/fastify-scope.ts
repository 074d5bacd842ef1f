// Outside: Fastify, which has no question for how its scopes stand to each other. The prototype of
// a scope is the scope around it.

import type { FastifyInstance } from 'fastify'

/** Whether a scope is the whole application: no scope is around it. */
export function isRootScope(app: FastifyInstance): boolean {
  const around = Reflect.getPrototypeOf(app)
  return around === null || !('server' in around)
}

/** Whether a scope is another one, or below it. */
export function isWithin(outer: FastifyInstance, scope: FastifyInstance): boolean {
  return outer === scope || Object.prototype.isPrototypeOf.call(outer, scope)
}
