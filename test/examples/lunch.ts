import Fastify from 'fastify'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** An application as a function of the guard's options, so that a test can give it its own keys. */
export async function lunchApp(options: AuthOptions) {
  const app = Fastify()
  await app.register(tenantAuth, options)

  app.get('/health', { config: { noauth: true } }, async () => 'ok')

  // the tenant in the path: GET /lazy-raccoon/todays-menu
  app.get(
    '/:tenant/todays-menu',
    { config: { tenant: 'required', require: 'menu:read' } },
    async (request) => menuOf(request.tenant), // string
  )

  // the tenant in the query: GET /orders?tenant=lazy-raccoon
  app.get(
    '/orders',
    { config: { tenant: true, userInfo: true, resources: true } },
    async (request) => ({
      tenant: request.tenant, // string | null
      user: request.userInfo.preferred_username,
      mayCancel: request.resources.has('order:cancel'),
    }),
  )

  return app
}

function menuOf(tenant: string): readonly string[] {
  return [`soup as ${tenant} likes it`]
}
