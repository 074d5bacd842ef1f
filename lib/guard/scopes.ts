import type { FastifyInstance } from 'fastify'
import type { LoadedSettings } from '../config/load-settings.ts'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import type { Authenticator } from '../identity/authentication/authenticator.ts'
import type { PendingRequests } from '../platform/callbacks/pending-requests.ts'
import { isWithin, rootScope } from '../routes/fastify-scope.ts'
import type { RouteRegistry } from '../routes/route-registry.ts'

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
      'tenant auth: expected one guard in a scope and below it, found a second (code): register the plugin once',
    )
  }
  scopesOf.set(rootScope(app), [...guarded, app])
}

export function guardedScopes(app: FastifyInstance): readonly FastifyInstance[] {
  return scopesOf.get(rootScope(app)) ?? []
}

/** A guard in its scope, as the tools and further plugins find it. */
export interface InstalledGuard {
  readonly scope: FastifyInstance
  readonly registry: RouteRegistry
  readonly loaded: LoadedSettings
  readonly authenticator: Authenticator
  /** The waits of its requests. */
  readonly waits: PendingRequests
}

const installed = new WeakMap<object, readonly InstalledGuard[]>()

export function registerGuard(guard: InstalledGuard): void {
  const root = rootScope(guard.scope)
  installed.set(root, [...(installed.get(root) ?? []), guard])
}

/** The guards of a scope: those in it and below it, or the one around it. */
export function installedGuards(app: FastifyInstance): readonly InstalledGuard[] {
  const guards = installed.get(rootScope(app)) ?? []
  return guards.filter(({ scope }) => isWithin(app, scope) || isWithin(scope, app))
}
