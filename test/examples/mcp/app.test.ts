import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { type Client, InsufficientScopeError } from '@modelcontextprotocol/client'
import type { FastifyInstance } from 'fastify'
import { runExample } from '../../helpers/processes/running-example.ts'
import { createApp } from './app.ts'
import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.ts'
import { connect } from './client.ts'

let resource: string
let server: AuthorizationServer
let app: FastifyInstance
/** The requests for the app in their order, each with its status and its challenge. */
let requests: { what: string; challenge: string; token: string }[]

before(async () => {
  const port = await freePort()
  resource = `http://127.0.0.1:${port}/mcp`
  server = await startAuthorizationServer(resource)
  app = await createApp(server.issuer, resource)
  app.addHook('onResponse', async ({ method, url, headers }, reply) => {
    requests.push({
      what: `${method} ${url} ${reply.statusCode}`,
      challenge: String(reply.getHeader('www-authenticate')),
      token: headers.authorization?.slice('Bearer '.length) ?? '',
    })
  })
  requests = []
  await app.listen({ host: '127.0.0.1', port })
})
after(async () => {
  await app.close()
  await server.close()
})

/** A port that nobody has: the address of the API stands in its configuration. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  server.close()
  await once(server, 'close')
  return address.port
}

const call = async (client: Client, name: string) => (await client.callTool({ name })).content
const said = (text: string) => [{ type: 'text', text }]
const metadata = () => new URL('/.well-known/oauth-protected-resource/mcp', resource).href

test('a client that knows the address only finds out who to ask, and gets in', async () => {
  requests = []
  const client = await connect(resource, 'alice', 'lazy-raccoon')
  const [first, second, third] = requests
  assert.equal(first?.what, 'POST /mcp 401')
  assert.equal(
    first.challenge,
    `Bearer realm="api", scope="menu:read", resource_metadata="${metadata()}"`,
  )
  assert.equal(second?.what, 'GET /.well-known/oauth-protected-resource/mcp 200')
  assert.equal(third?.what, 'POST /mcp 200')
  const { aud, iss, scope } = JSON.parse(
    Buffer.from(third.token.split('.')[1] ?? '', 'base64url').toString(),
  )
  assert.deepEqual({ aud, iss, scope }, { aud: resource, iss: server.issuer, scope: 'menu:read' })
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    ['read_menu', 'change_soup'],
  )
  await client.close()
})

test('users of two tenants behind one address see the data of their own', async () => {
  const alice = await connect(resource, 'alice', 'lazy-raccoon')
  const bob = await connect(resource, 'bob', 'busy-beaver')
  assert.deepEqual(await call(alice, 'change_soup'), said('changed'))
  assert.deepEqual(await call(alice, 'read_menu'), said('lentil soup for lazy-raccoon'))
  assert.deepEqual(await call(bob, 'read_menu'), said('soup of the day for busy-beaver'))
  await Promise.all([alice.close(), bob.close()])
})

test('a tool that needs more than the user may do is refused, and the 403 names it', async () => {
  const bob = await connect(resource, 'bob', 'busy-beaver')
  requests = []
  const requiredScope = 'menu:read menu:edit'
  await assert.rejects(call(bob, 'change_soup'), (error) => {
    assert.ok(error instanceof InsufficientScopeError, `no InsufficientScopeError: ${error}`)
    assert.equal(error.requiredScope, requiredScope)
    assert.equal(error.resourceMetadataUrl?.href, metadata())
    return true
  })
  assert.equal(requests.at(-1)?.what, 'POST /mcp 403')
  assert.deepEqual(await call(bob, 'read_menu'), said('soup of the day for busy-beaver'))

  // Nor in a list of messages, where one of them is permitted.
  const message = (name: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name },
  })
  const response = await fetch(resource, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${requests.at(-1)?.token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'x-tenant': 'busy-beaver',
    },
    body: JSON.stringify([message('read_menu'), message('change_soup')]),
  })
  assert.equal(response.status, 403)
  await bob.close()
})

for (const [user, tenant] of [
  ['mallory', 'lazy-raccoon'],
  ['mallory', 'busy-beaver'],
  ['bob', 'lazy-raccoon'],
] as const) {
  test(`${user} is refused at ${tenant}`, async () => {
    await assert.rejects(connect(resource, user, tenant), InsufficientScopeError)
  })
}

test('the example runs, and tells what each user got', { timeout: 120_000 }, async (t) => {
  const file = new URL('start.ts', import.meta.url).pathname
  const { ended, printed } = runExample(t, [file], { PORT: String(await freePort()) })
  assert.equal(await ended, 0, printed.stderr)
  assert.match(printed.stdout, /alice, lazy-raccoon, read_menu: .*lentil soup for lazy-raccoon/)
  assert.match(printed.stdout, /bob, busy-beaver, change_soup: .*"menu:read menu:edit/)
  assert.match(printed.stdout, /bob, busy-beaver, read_menu: .*soup of the day for busy-beaver/)
  assert.match(printed.stdout, /mallory, lazy-raccoon: .*Insufficient scope/)
})
