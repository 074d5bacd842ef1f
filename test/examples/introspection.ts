import Fastify, { type FastifyInstance } from 'fastify'
import { introspection } from '../../lib/entrypoints/introspection/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** An application of a server whose access tokens only the server itself can read. */
export async function introspectingApp(
  issuer: string,
  clientSecret: string,
  options: AuthOptions,
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(tenantAuth, {
    ...options,
    issuer,
    audience: 'https://lunch.test/api',
    opaqueToken: introspection({ issuer, clientId: 'lunch', clientSecret }),
  })

  app.get(
    '/:tenant/menu',
    { config: { tenant: 'required', userInfo: true, require: 'menu:read' } },
    async ({ tenant, userInfo }) => ({ tenant, sub: userInfo.sub }),
  )

  return app
}
