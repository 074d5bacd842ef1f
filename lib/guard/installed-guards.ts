import type { FastifyInstance } from 'fastify'
import type { RouteRegister } from '../declaration/route-register.ts'
import { isWithin, rootScope } from '../outside/fastify-scope.ts'
import type { LoadedSettings } from '../settings/load-settings.ts'

/** A guard in its scope, as the tools see it. */
export interface InstalledGuard {
  readonly scope: FastifyInstance
  readonly register: RouteRegister
  readonly loaded: LoadedSettings
}

/** The guards of each application, by its root. */
const installed = new WeakMap<object, readonly InstalledGuard[]>()

/** Lets the tools find a guard. */
export function noteGuard(guard: InstalledGuard): void {
  const root = rootScope(guard.scope)
  installed.set(root, [...(installed.get(root) ?? []), guard])
}

/** The guards of a scope: those in it and below it, or the one around it. */
export function installedGuards(app: FastifyInstance): readonly InstalledGuard[] {
  const guards = installed.get(rootScope(app)) ?? []
  return guards.filter(({ scope }) => isWithin(app, scope) || isWithin(scope, app))
}
