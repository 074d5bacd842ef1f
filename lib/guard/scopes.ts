import type { FastifyInstance } from 'fastify'
import type { LoadedSettings } from '../config/load-settings.ts'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'
import type { Authenticator } from '../identity/authentication/authenticator.ts'
import type { Implies } from '../identity/authorization/implied-ids.ts'
import type { PendingRequests } from '../platform/callbacks/pending-requests.ts'
import { isWithin, rootScope } from '../routes/fastify-scope.ts'
import type { RouteRegistry } from '../routes/route-registry.ts'

/** A guard in its scope, as the tools and further plugins find it. */
export interface InstalledGuard {
  readonly scope: FastifyInstance
  readonly registry: RouteRegistry
  readonly loaded: LoadedSettings
  readonly authenticator: Authenticator
  readonly waits: PendingRequests
}

/** The guards of each application. The key is its root. */
const installed = new WeakMap<object, readonly InstalledGuard[]>()

/**
 * Scopes beside each other are independent. A scope below a guarded one would be guarded twice, in
 * either order of installing.
 *
 * @throws ERR_AUTH_CONFIG_INVALID for a scope that is guarded already, or below or around one
 */
export function assertUnguarded(app: FastifyInstance): void {
  if (installedGuards(app).length === 0 && !isCovered(app)) return
  throw new ERR_AUTH_CONFIG_INVALID(
    'tenant auth: expected one guard in a scope and below it, found a second (code): register the plugin once',
  )
}

export function registerGuard(guard: InstalledGuard): void {
  const { scope, loaded } = guard
  const root = rootScope(scope)
  installed.set(root, [...(installed.get(root) ?? []), guard])
  const shown: ShownGuard = {
    isInDevMode: loaded.settings.devMode,
    implies: loaded.rights.implied?.configured,
  }
  Object.defineProperty(scope, SHOWN, { value: shown })
}

/** The facts of a guard that its matrix shows beside the routes. */
interface ShownGuard {
  readonly isInDevMode: boolean
  /** As configured. Undefined: no id implies another one. */
  readonly implies: Implies | undefined
}

/**
 * The property of a scope by which one copy of this package reads the guard of another. The command
 * has one by `import`; that of the application may be in a bundle, or tsx may have made it for
 * `require`.
 */
const SHOWN = Symbol.for('fastify-tenant-auth.guard')

/** Undefined: there is no guard in the very scope, or it is of a copy that shows nothing. */
export function shownGuard(scope: FastifyInstance): ShownGuard | undefined {
  return Object.getOwnPropertyDescriptor(scope, SHOWN)?.value
}

/** True: a guard of any copy covers the scope. Those in it have the property of a scope around. */
export function isCovered(scope: FastifyInstance): boolean {
  return SHOWN in scope
}

export function guardedScopes(app: FastifyInstance): readonly FastifyInstance[] {
  return installed.get(rootScope(app))?.map(({ scope }) => scope) ?? []
}

/** The guards of a scope: those in it and below it, or the one around it. */
export function installedGuards(app: FastifyInstance): readonly InstalledGuard[] {
  const guards = installed.get(rootScope(app)) ?? []
  return guards.filter(({ scope }) => isWithin(app, scope) || isWithin(scope, app))
}
