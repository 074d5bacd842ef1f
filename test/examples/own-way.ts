import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { resourceMetadata } from '../../lib/index.ts'

/** An API at one address, whose clients find out by themselves where to log in. */
export async function createApp(issuer: string): Promise<FastifyInstance> {
  const app = Fastify()

  await app.register(tenantAuth, { issuer, resource: 'https://api.example.com/mcp' })
  await app.register(resourceMetadata, { scopes: ['menu:read', 'menu:edit'] })

  app.get('/:tenant/menu', { config: { require: 'menu:read' } }, async () => ['soup'])
  return app
}
