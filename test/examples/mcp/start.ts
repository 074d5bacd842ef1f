import { createApp } from './app.ts'
import { startAuthorizationServer } from './authorization-server.ts'
import { connect } from './client.ts'

// Three users of one MCP server, each with a client that knows its address only.

const port = Number(process.env['PORT'] ?? 3000)
const resource = `http://127.0.0.1:${port}/mcp`
const server = await startAuthorizationServer(resource)
const app = await createApp(server.issuer, resource)
await app.listen({ host: '127.0.0.1', port })

for (const [user, tenant] of [
  ['alice', 'lazy-raccoon'],
  ['bob', 'busy-beaver'],
  ['mallory', 'lazy-raccoon'],
] as const) {
  try {
    const client = await connect(resource, user, tenant)
    for (const name of ['change_soup', 'read_menu']) {
      const { content } = await client.callTool({ name }).catch(refusal)
      console.log(`${user}, ${tenant}, ${name}: ${JSON.stringify(content)}`)
    }
    await client.close()
  } catch (error) {
    console.log(`${user}, ${tenant}: ${error}`)
  }
}

await app.close()
await server.close()

function refusal(error: unknown) {
  return { content: String(error) }
}
