import type { FastifyInstance } from 'fastify'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { isWithin, rootScope } from '../outside/fastify-scope.ts'

/** The guarded scopes of each application. */
const scopesOf = new WeakMap<object, readonly FastifyInstance[]>()

/**
 * Notes a scope as guarded. Scopes beside each other are independent. A scope below a guarded one
 * would be guarded twice, in either order of installing.
 *
 * @throws ERR_AUTH_CONFIG_INVALID for a scope that is guarded already, or below or around one
 */
export function claimScope(app: FastifyInstance): void {
  const guarded = guardedScopes(app)
  if (guarded.some((scope) => isWithin(scope, app) || isWithin(app, scope))) {
    throw new ERR_AUTH_CONFIG_INVALID(
      'tenant auth: expected one guard in a scope and below it, found a second (code)',
    )
  }
  scopesOf.set(rootScope(app), [...guarded, app])
}

/** The guarded scopes of the whole application. */
export function guardedScopes(app: FastifyInstance): readonly FastifyInstance[] {
  return scopesOf.get(rootScope(app)) ?? []
}
