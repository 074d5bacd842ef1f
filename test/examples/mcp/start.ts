import { createApp } from './app.ts'
import { startAuthorizationServer } from './authorization-server.ts'
import { connect } from './client.ts'

// Three users of two tenants, each with a client that knows the tenant's address only.

const port = Number(process.env['PORT'] ?? 3000)
const origin = `http://127.0.0.1:${port}`
const tenants = ['lazy-raccoon', 'busy-beaver']
const servers = await Promise.all(
  tenants.map((tenant) => startAuthorizationServer(`${origin}/${tenant}/mcp`)),
)
const app = await createApp(
  servers.map(({ issuer }, index) => ({ issuer, tenants: tenants.slice(index, index + 1) })),
  origin,
)
await app.listen({ host: '127.0.0.1', port })

for (const [user, tenant] of [
  ['alice', 'lazy-raccoon'],
  ['bob', 'busy-beaver'],
  ['mallory', 'lazy-raccoon'],
] as const) {
  try {
    const client = await connect(`${origin}/${tenant}/mcp`, user)
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
for (const server of servers) await server.close()

function refusal(error: unknown) {
  return { content: String(error) }
}
