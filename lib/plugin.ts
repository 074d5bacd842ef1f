import type { FastifyInstance, FastifyRegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { AuthOptions } from './config/options.ts'
import { withoutRegisterOptions } from './config/problems.ts'
import { AuthService } from './service.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The service that guards this scope. */
    readonly authService: AuthService
  }
}

/**
 * Closes every route of an application to strangers, and ties each request to one tenant.
 *
 * @example await app.register(tenantAuth, { configFile: 'app.ini' })
 * @throws ERR_AUTH_CONFIG_INVALID, ERR_AUTH_ROUTE_INVALID at boot
 */
export const tenantAuth = fp(
  async (app: FastifyInstance, options: FastifyRegisterOptions<AuthOptions>) => {
    await new AuthService(withoutRegisterOptions(options)).install(app)
  },
  { name: 'fastify-tenant-auth', fastify: '>=5.8.5 <7' },
)
