import { createMcpHandler } from '@modelcontextprotocol/server'
import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { resourceMetadata } from '../../../lib/index.ts'
import { menuServer, rightsFor } from './menu-server.ts'

/** An MCP server for users of many tenants, all behind one address. */
export async function createApp(issuer: string, resource: string): Promise<FastifyInstance> {
  const app = Fastify()

  await app.register(tenantAuth, {
    issuer,
    resource, // https://api.example.com/mcp
    // The client sends it with each request, as its user has configured.
    resolveTenant: ({ headers }) => headers['x-tenant']?.toString() ?? null,
  })
  await app.register(resourceMetadata, { scopes: ['menu:read', 'menu:edit'] })

  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    config: { tenant: 'required', authorization: true, require: 'menu:read' },
    async handler({ authorization, tenant, method, headers, body }) {
      // A 403 that names all that the message needs: the client may ask its user for more.
      authorization.require(...rightsFor(body))
      const given = Object.entries(headers).map(([name, value]) => [name, String(value)])
      const mcp = createMcpHandler(() => menuServer(tenant))
      return mcp.fetch(new Request(resource, { method, headers: Object.fromEntries(given) }), {
        parsedBody: body,
      })
    },
  })

  return app
}
