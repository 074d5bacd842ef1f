import type { FastifyInstance } from 'fastify'
import type { RouteRegister } from './declaration/route-register.ts'
import { auditRoutes } from './inspection/audit.ts'
import type { Neighbours } from './inspection/neighbours.ts'
import { bootWarnings, listeningWarning } from './settings/boot-warnings.ts'
import type { LoadedSettings } from './settings/load-settings.ts'

/** What is looked at when the application is ready. */
export interface Inspected {
  readonly register: RouteRegister
  readonly neighbours: Neighbours
}

/**
 * Tells the operator what should be known: of the settings at once, of the routes when the
 * application is ready, of the network when it listens. What opens a door stops the boot.
 */
export function reportBoot(
  app: FastifyInstance,
  loaded: LoadedSettings,
  { register, neighbours }: Inspected,
): void {
  const warn = (warning: string) => app.log.warn(`tenant auth: ${warning}`)
  app.addHook('onReady', async () => {
    register.compile()
    auditRoutes(register, neighbours, loaded.settings)
  })
  app.addHook('onListen', async () => {
    const warning = listeningWarning(loaded, app.addresses())
    if (warning !== undefined) warn(warning)
  })
  for (const warning of bootWarnings(loaded)) warn(warning)
}
