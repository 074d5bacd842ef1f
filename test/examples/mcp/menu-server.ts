import { McpServer } from '@modelcontextprotocol/server'

/** What a tool needs beside `menu:read`. */
const RIGHTS: ReadonlyMap<unknown, string> = new Map([['change_soup', 'menu:edit']])

/** The soup of each tenant. */
const soups = new Map<string, string>()

/** The tools, for one request of a user of the tenant. */
export function menuServer(tenant: string): McpServer {
  const server = new McpServer({ name: 'menus', version: '1.0.0' })
  const text = (text: string) => ({ content: [{ type: 'text' as const, text }] })

  server.registerTool('read_menu', { description: "Today's menu" }, async () =>
    text(`${soups.get(tenant) ?? 'soup of the day'} for ${tenant}`),
  )

  server.registerTool('change_soup', { description: "Makes tomorrow's soup today's" }, async () => {
    soups.set(tenant, 'lentil soup')
    return text('changed')
  })

  return server
}

/** All rights that the messages of a request's body need. A body may hold several messages. */
export function rightsFor(body: unknown): string[] {
  const ofTools = [body].flat().flatMap((message) => {
    const { method, params } = Object(message)
    return method === 'tools/call' ? (RIGHTS.get(Object(params).name) ?? []) : []
  })
  return ['menu:read', ...ofTools]
}
