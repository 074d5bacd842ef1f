import { McpServer, requireScopes } from '@modelcontextprotocol/server'

/** The soup of each tenant. */
const soups = new Map<string, string>()

export const soupOf = (tenant: string) => soups.get(tenant) ?? 'soup of the day'

/** The tools, for one request of a user of the tenant. */
export function menuServer(tenant: string): McpServer {
  const server = new McpServer({ name: 'menus', version: '1.0.0' })
  const text = (text: string) => ({ content: [{ type: 'text' as const, text }] })

  server.registerTool('read_menu', { description: "Today's menu" }, async () =>
    text(`${soupOf(tenant)} for ${tenant}`),
  )

  server.registerTool(
    'change_soup',
    {
      description: "Makes tomorrow's soup today's",
      // All that the tool needs, for a client that asks its user for more.
      scopeChallenge: requireScopes('menu:read', 'menu:edit'),
    },
    async () => {
      soups.set(tenant, 'lentil soup')
      return text('changed')
    },
  )

  return server
}
