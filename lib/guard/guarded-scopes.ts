import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import { isWithin, rootScope } from '../outside/fastify-scope.ts'

/** A scope that has a guard. */
interface GuardedScope {
  readonly scope: FastifyInstance
  /** Name of the guard's hook. No other hook has it. */
  readonly guardName: string
}

/** The guarded scopes of each application. */
const scopesOf = new WeakMap<object, readonly GuardedScope[]>()

/**
 * Notes a scope as guarded, and gives the name of its guard's hook. Scopes beside each other are
 * independent. A scope below a guarded one would be guarded twice, in either order of installing.
 *
 * @throws ERR_AUTH_CONFIG_INVALID for a scope that is guarded already, or below or around one
 */
export function claimScope(app: FastifyInstance): string {
  const guarded = guardedScopes(app)
  if (guarded.some(({ scope }) => isWithin(scope, app) || isWithin(app, scope))) {
    throw new ERR_AUTH_CONFIG_INVALID(
      'tenant auth: expected one guard in a scope and below it, found a second (code)',
    )
  }
  const guardName = `tenantAuthGuard-${randomUUID()}`
  scopesOf.set(rootScope(app), [...guarded, { scope: app, guardName }])
  return guardName
}

/** The guarded scopes of the whole application. */
export function guardedScopes(app: FastifyInstance): readonly GuardedScope[] {
  return scopesOf.get(rootScope(app)) ?? []
}
