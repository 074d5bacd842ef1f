import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { type Client, InsufficientScopeError } from '@modelcontextprotocol/client'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import { runExample } from '../../helpers/processes/running-example.ts'
import { createApp } from './app.ts'
import { type AuthorizationServer, startAuthorizationServer } from './authorization-server.ts'
import { ClientMemory, connect } from './client.ts'

const TENANTS = ['lazy-raccoon', 'busy-beaver']
const authority = await createTestAuthority({ audience: 'menus' })

let origin: string
let servers: AuthorizationServer[]
let app: FastifyInstance
/** The requests for the app in their order, each with its status and its challenge. */
let requests: { what: string; challenge: string; token: string }[]

before(async () => {
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  servers = await Promise.all(TENANTS.map((tenant) => startAuthorizationServer(addressOf(tenant))))
  const issuers = servers.map(({ issuer }, index) => ({
    issuer,
    tenants: TENANTS.slice(index, index + 1),
  }))
  const { publicKeys, issuer } = authority
  app = await createApp([...issuers, { publicKeys, issuer, tenants: ['quiet-otter'] }], origin)
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
  for (const server of servers) await server.close()
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

const addressOf = (tenant: string) => `${origin}/${tenant}/mcp`
/** Without those of a client before, whose stream may come late. */
const requestsFor = (tenant: string) => requests.filter(({ what }) => what.includes(tenant))
const call = async (client: Client, name: string) => (await client.callTool({ name })).content
const said = (text: string) => [{ type: 'text', text }]
const metadata = (tenant: string) => `/.well-known/oauth-protected-resource/${tenant}/mcp`

for (const [user, tenant] of [
  ['alice', 'lazy-raccoon'],
  ['bob', 'busy-beaver'],
] as const) {
  test(`a client that knows the address of ${tenant} only finds out who to ask there, and gets in`, async () => {
    requests = []
    const client = await connect(addressOf(tenant), user)
    const [first, second, third] = requestsFor(tenant)
    assert.equal(first?.what, `POST /${tenant}/mcp 401`)
    assert.equal(
      first.challenge,
      `Bearer realm="api", scope="menu:read", resource_metadata="${origin}${metadata(tenant)}"`,
    )
    assert.equal(second?.what, `GET ${metadata(tenant)} 200`)
    assert.equal(third?.what, `POST /${tenant}/mcp 200`)
    const { aud, iss, scope } = JSON.parse(
      Buffer.from(third.token.split('.')[1] ?? '', 'base64url').toString(),
    )
    const issuer = servers[TENANTS.indexOf(tenant)]?.issuer
    assert.deepEqual(
      { aud, iss, scope },
      { aud: addressOf(tenant), iss: issuer, scope: 'menu:read' },
    )
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['read_menu', 'change_soup'],
    )
    await client.close()
  })
}

test('a client that has a token of one tenant is sent to the server of the other by itself', async () => {
  const memory = new ClientMemory()
  await (await connect(addressOf('lazy-raccoon'), 'alice', memory)).close()
  const { token } = requests.at(-1) ?? { token: '' }
  requests = []
  const bob = new ClientMemory()
  bob.saveTokens({ access_token: token, token_type: 'Bearer' })
  const client = await connect(addressOf('busy-beaver'), 'bob', bob)
  const [first] = requestsFor('busy-beaver')
  assert.deepEqual([first?.what, first?.token], ['POST /busy-beaver/mcp 401', token])
  assert.equal(
    first?.challenge,
    `Bearer realm="api", error="invalid_token", scope="menu:read", resource_metadata="${origin}${metadata('busy-beaver')}"`,
  )
  assert.deepEqual(await call(client, 'read_menu'), said('soup of the day for busy-beaver'))
  await client.close()
})

test('users of two tenants see the data of their own', async () => {
  const alice = await connect(addressOf('lazy-raccoon'), 'alice')
  const bob = await connect(addressOf('busy-beaver'), 'bob')
  assert.deepEqual(await call(alice, 'change_soup'), said('changed'))
  assert.deepEqual(await call(alice, 'read_menu'), said('lentil soup for lazy-raccoon'))
  assert.deepEqual(await call(bob, 'read_menu'), said('soup of the day for busy-beaver'))
  await Promise.all([alice.close(), bob.close()])
})

test('a tool that needs more than the user may do is refused, and the 403 names it', async () => {
  const tenant = 'busy-beaver'
  const bob = await connect(addressOf(tenant), 'bob')
  requests = []
  const requiredScope = 'menu:read menu:edit'
  await assert.rejects(call(bob, 'change_soup'), (error) => {
    assert.ok(error instanceof InsufficientScopeError, `no InsufficientScopeError: ${error}`)
    assert.equal(error.requiredScope, requiredScope)
    assert.equal(error.resourceMetadataUrl?.href, `${origin}${metadata(tenant)}`)
    return true
  })
  assert.equal(requests.at(-1)?.what, `POST /${tenant}/mcp 403`)
  assert.deepEqual(await call(bob, 'read_menu'), said('soup of the day for busy-beaver'))

  // Nor in a list of messages, where one of them is permitted.
  const message = (name: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name },
  })
  const response = await fetch(addressOf(tenant), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${requests.at(-1)?.token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
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
    await assert.rejects(connect(addressOf(tenant), user), InsufficientScopeError)
  })
}

/** What a token names in `aud`, and the statuses of the MCP server and of the REST API. */
const AUDIENCES: readonly [names: string[], mcp: number, rest: number][] = [
  [['menus'], 401, 200],
  [['quiet-otter'], 405, 401],
  [['menus', 'quiet-otter'], 405, 200],
  [['lazy-raccoon'], 401, 401],
  [[], 401, 401],
]

for (const [names, mcp, rest] of AUDIENCES) {
  test(`a token for ${names.join(' and ') || 'nobody'} is ${mcp} at the MCP server, and ${rest} at the REST API beside it`, async () => {
    const audience = names.map((name) => (name === 'menus' ? name : addressOf(name)))
    const headers = await authority.headers(
      { resources: { 'quiet-otter': ['menu:read'] } },
      { audience },
    )
    const statusOf = async (place: string) => {
      const response = await fetch(`${origin}/quiet-otter/${place}`, { headers })
      const challenge = response.headers.get('www-authenticate')
      const hasDocument = challenge?.includes(metadata('quiet-otter')) ?? false
      assert.equal(hasDocument, place === 'mcp' && response.status === 401)
      return response.status
    }
    assert.deepEqual([await statusOf('mcp'), await statusOf('soup')], [mcp, rest])
  })
}

test('the example runs, and prints what each user got', { timeout: 120_000 }, async (t) => {
  const file = new URL('start.ts', import.meta.url).pathname
  const { ended, printed } = runExample(t, [file], { PORT: String(await freePort()) })
  assert.equal(await ended, 0, printed.stderr)
  assert.match(printed.stdout, /alice, lazy-raccoon, read_menu: .*lentil soup for lazy-raccoon/)
  assert.match(printed.stdout, /bob, busy-beaver, change_soup: .*"menu:read menu:edit/)
  assert.match(printed.stdout, /bob, busy-beaver, read_menu: .*soup of the day for busy-beaver/)
  assert.match(printed.stdout, /mallory, lazy-raccoon: .*Insufficient scope/)
})
