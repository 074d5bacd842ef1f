import { createMcpFastifyApp } from '@modelcontextprotocol/fastify'
import { createMcpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { type ListedIssuer, resourceMetadata } from '../../../lib/index.ts'
import { createAuthInfoOf, SCOPES } from './auth-info.ts'
import { menuServer, soupOf } from './menu-server.ts'

/**
 * An MCP server with an address for each tenant, and a REST API beside it.
 *
 * @param issuers each tenant's own authorization server
 * @param origin of the server, as its clients know it
 */
export async function createApp(
  issuers: readonly ListedIssuer[],
  origin: string,
): Promise<FastifyInstance> {
  const app = createMcpFastifyApp()
  const authInfoOf = createAuthInfoOf(origin)

  await app.register(async (mcp) => {
    await mcp.register(tenantAuth, {
      issuers, // each with the tenants that it may speak for
      resource: `${origin}/:tenant/mcp`, // https://api.example.com/:tenant/mcp
    })
    await mcp.register(resourceMetadata, { scopes: SCOPES })

    mcp.route({
      method: ['GET', 'POST', 'DELETE'],
      url: '/:tenant/mcp',
      config: { tenant: 'required', require: 'menu:read' },
      async handler(request) {
        const { tenant, method, url, headers, body } = request
        const given = Object.entries(headers).map(([name, value]) => [name, String(value)])
        const server = createMcpHandler(() => menuServer(tenant))
        return server.fetch(
          new Request(new URL(url, origin), { method, headers: Object.fromEntries(given) }),
          { authInfo: authInfoOf(request), parsedBody: body },
        )
      },
    })
  })

  await app.register(async (rest) => {
    await rest.register(tenantAuth, { issuers, audience: 'menus' })

    rest.get(
      '/:tenant/soup',
      { config: { tenant: 'required', require: 'menu:read' } },
      async ({ tenant }) => ({ soup: soupOf(tenant) }),
    )
  })

  return app
}
