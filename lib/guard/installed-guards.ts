import type { FastifyInstance } from 'fastify'
import type { RouteRegister } from '../declaration/route-register.ts'
import { isWithin } from '../outside/fastify-scope.ts'
import type { LoadedSettings } from '../settings/load-settings.ts'
import { guardedScopes } from './guarded-scopes.ts'

/** A guard in its scope, as the tools see it. */
export interface InstalledGuard {
  readonly scope: FastifyInstance
  readonly register: RouteRegister
  readonly loaded: LoadedSettings
}

const installed = new WeakMap<FastifyInstance, InstalledGuard>()

/** Lets the tools find a guard. */
export function noteGuard(guard: InstalledGuard): void {
  installed.set(guard.scope, guard)
}

/** The guards of a scope: those in it and below it, or the one around it. */
export function installedGuards(app: FastifyInstance): readonly InstalledGuard[] {
  return guardedScopes(app)
    .filter(({ scope }) => isWithin(app, scope) || isWithin(scope, app))
    .flatMap(({ scope }) => installed.get(scope) ?? [])
}
