import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify from 'fastify'
import tenantAuth, { type AuthOptions, publicScope } from '../../../lib/index.ts'

/** A restaurant that documents itself. It has a page to try it at /docs. Not listening yet. */
export async function createDocumentedApp(options: AuthOptions) {
  // A browser may hold open connections that it never uses. They must not delay the end.
  const app = Fastify({ forceCloseConnections: true })

  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Restaurant', version: '1.0.0' } },
    transformObject: (given) =>
      'openapiObject' in given ? app.authService.openapi(given.openapiObject) : given.swaggerObject,
  })
  await app.register(tenantAuth, options)

  // The page and the document are public. Without publicScope only users would see them.
  await app.register(publicScope(swaggerUi), {
    routePrefix: '/docs',
    uiConfig: { tryItOutEnabled: true },
  })

  app.get('/health', { config: { noauth: true } }, async () => ({ ok: true }))

  // Strictly multitenant.
  app.get(
    '/:tenant/todays-menu',
    { config: { tenant: 'required', require: 'menu:read' } },
    async ({ tenant }) => ({ tenant, meals: ['soup'] }),
  )

  // Configurably multitenant.
  app.get('/orders', { config: { tenant: true, userInfo: true } }, async (request) => ({
    tenant: request.tenant,
    by: request.userInfo.sub,
  }))

  return app
}
