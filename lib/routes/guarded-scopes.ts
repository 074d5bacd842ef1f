import type { FastifyInstance } from 'fastify'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'

/** The guarded scopes of each application. All scopes of one share its HTTP server. */
const scopesOf = new WeakMap<object, FastifyInstance[]>()

/** What the guard's hooks are called in print, in each scope followed by another number. */
export const GUARD = 'tenantAuthGuard'

/**
 * Notes a scope as guarded, and gives the name of its guard. Scopes beside each other are independent; one below another would be guarded twice,
 * whichever came first.
 *
 * @throws ERR_AUTH_CONFIG_INVALID
 */
export function claimScope(app: FastifyInstance): string {
  const scopes = scopesOf.get(app.server) ?? []
  if (scopes.some((scope) => scope === app || isBelow(scope, app) || isBelow(app, scope))) {
    throw new ERR_AUTH_CONFIG_INVALID(
      'tenant auth: expected one guard in a scope and below it, found a second (code)',
    )
  }
  scopesOf.set(app.server, [...scopes, app])
  return `${GUARD}${scopes.length + 1}`
}

/** Whether a scope is the whole application: then no route is outside of it. */
export function isRootScope(app: FastifyInstance): boolean {
  const around = Reflect.getPrototypeOf(app)
  return around === null || !('server' in around)
}

/** A scope's prototype is the scope around it. */
function isBelow(outer: FastifyInstance, inner: FastifyInstance): boolean {
  return Object.prototype.isPrototypeOf.call(outer, inner)
}
