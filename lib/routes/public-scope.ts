import type {
  FastifyInstance,
  FastifyPluginAsync,
  FastifyPluginCallback,
  FastifyPluginOptions,
} from 'fastify'
import fp from 'fastify-plugin'
import { ERR_AUTH_CONFIG_INVALID } from '../errors.ts'

/**
 * The same plugin in a scope of its own, in which all routes are `noauth`. For plugins whose routes
 * one cannot edit.
 *
 * @param plugin the plugin to wrap; it may be made by fastify-plugin
 * @example app.register(publicScope(swaggerUi), { routePrefix: '/docs' })
 * @throws ERR_AUTH_CONFIG_INVALID at boot, if the plugin adds no route
 */
export function publicScope<Options extends FastifyPluginOptions>(
  plugin: FastifyPluginCallback<Options>,
): FastifyPluginAsync<Options>
export function publicScope<Options extends FastifyPluginOptions>(
  plugin: FastifyPluginAsync<Options>,
): FastifyPluginAsync<Options>
export function publicScope<Options extends FastifyPluginOptions>(
  plugin: FastifyPluginAsync<Options> | FastifyPluginCallback<Options>,
): FastifyPluginAsync<Options> {
  async function tenantAuthPublicScope(app: FastifyInstance, options: Options): Promise<void> {
    let count = 0
    await app.register(async (scope) => {
      scope.addHook('onRoute', (route) => {
        route.config = { ...route.config, noauth: true }
        count++
      })
      await scope.register<Options>(plugin, options)
    })
    if (count === 0) {
      throw new ERR_AUTH_CONFIG_INVALID(
        'publicScope: expected a plugin that adds routes, found one that adds none (code)',
      )
    }
  }
  // The plugin gets no further scope here, so `prefix` and the like mean the same as without us.
  return fp(tenantAuthPublicScope)
}
