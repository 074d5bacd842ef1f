// Outside: Fastify, which cannot be asked how its scopes stand to each other. The prototype of a
// scope is the scope around it.

import type { FastifyInstance } from 'fastify'

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

/**
 * A scope and all below it. Fastify keeps the children of a scope under a symbol; without that
 * symbol only the scope itself is found.
 */
export function scopesWithin(scope: FastifyInstance): FastifyInstance[] {
  const symbol = Object.getOwnPropertySymbols(scope).find(
    ({ description }) => description === 'fastify.children',
  )
  const children: unknown = symbol && Reflect.get(scope, symbol)
  const below = Array.isArray(children) ? children.filter(isScope).flatMap(scopesWithin) : []
  return [scope, ...below]
}

export function isScope(value: object): value is FastifyInstance {
  return 'server' in value
}
