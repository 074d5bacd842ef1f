// Outside: Fastify, which cannot be asked how its scopes stand to each other. The prototype of a
// scope is the scope around it.

import type { FastifyInstance } from 'fastify'

/** Whether a scope is the whole application, so that no scope is around it. */
export function isRootScope(app: FastifyInstance): boolean {
  return rootScope(app) === app
}

/** The whole application that a scope belongs to. */
export function rootScope(app: FastifyInstance): FastifyInstance {
  let root = app
  for (;;) {
    const around = Reflect.getPrototypeOf(root)
    if (around === null || !isScope(around)) return root
    root = around
  }
}

/** Whether a scope is the other one, or below it. */
export function isWithin(outer: FastifyInstance, scope: FastifyInstance): boolean {
  return outer === scope || Object.prototype.isPrototypeOf.call(outer, scope)
}

function isScope(value: object): value is FastifyInstance {
  return 'server' in value
}
