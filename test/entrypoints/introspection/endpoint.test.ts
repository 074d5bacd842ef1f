import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { introspection } from '../../../lib/entrypoints/introspection/index.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { until } from '../../helpers/processes/until.ts'
import { CLIENT, introspectionServer, json } from '../../helpers/servers/introspection-server.ts'

const TOKEN = 'a-real-token'
const OPENID = '/.well-known/openid-configuration'
const OAUTH = '/.well-known/oauth-authorization-server'
const HOUR = 3_600_000

const METADATA = { code: 'ERR_INTROSPECTION_METADATA' }

async function start(t: TestContext, { path = '', signed = false } = {}) {
  holdTime(t, { apis: ['Date'] })
  const server = await introspectionServer(t)
  server.active.set(TOKEN, { sub: 'alice' })
  const issuer = `${server.issuer}${path}`
  server.metadata = { issuer }
  return { server, issuer, ask: introspection({ issuer, signed, ...CLIENT }) }
}

test('the endpoint is the one that the issuer names', async (t) => {
  const { server, issuer, ask } = await start(t)
  assert.deepEqual(await ask(TOKEN), { sub: 'alice', iss: issuer })
  assert.deepEqual(server.paths, [OPENID])
})

/** Where the metadata of an issuer are, by its path. */
const PLACES: readonly [path: string, openid: string, oauth: string][] = [
  ['', OPENID, OAUTH],
  ['/', OPENID, OAUTH],
  ['/realms/staff', `/realms/staff${OPENID}`, `${OAUTH}/realms/staff`],
  ['/realms/staff/', `/realms/staff${OPENID}`, `${OAUTH}/realms/staff`],
]

for (const [path, openid, oauth] of PLACES) {
  test(`an issuer with the path "${path}" is looked for in two places`, async (t) => {
    const { server, issuer, ask } = await start(t, { path })
    server.elsewhere = (response, path) =>
      path === openid
        ? response.writeHead(404).end()
        : json(response, { issuer, introspection_endpoint: server.url })
    assert.deepEqual(await ask(TOKEN), { sub: 'alice', iss: issuer })
    assert.deepEqual(server.paths, [openid, oauth])
  })
}

test('an address in the options is asked without a look at the issuer', async (t) => {
  const { server, issuer } = await start(t)
  const url = `${server.url}?realm=staff`
  assert.deepEqual(await introspection({ issuer, url, ...CLIENT })(TOKEN), {
    sub: 'alice',
    iss: issuer,
  })
  assert.deepEqual(server.paths, [])
})

/** Metadata that cannot be used, beside a good issuer and endpoint. */
const BAD: readonly [what: string, metadata: object][] = [
  ['no issuer', { issuer: undefined }],
  ['another issuer', { issuer: 'https://other.example.com' }],
  ['an issuer that is no URL', { issuer: 'staff' }],
  ['no endpoint', { introspection_endpoint: undefined }],
  ['an endpoint that is no text', { introspection_endpoint: ['http://127.0.0.1/'] }],
  ['an endpoint by http', { introspection_endpoint: 'http://login.example.com/introspect' }],
  ['an endpoint with credentials', { introspection_endpoint: 'https://a:b@login.example.com/' }],
]

for (const [what, metadata] of BAD) {
  test(`metadata with ${what} are refused, and read again with the next token`, async (t) => {
    const { server, issuer, ask } = await start(t)
    server.metadata = { issuer, ...metadata }
    await assert.rejects(ask(TOKEN), METADATA)
    assert.deepEqual(server.asked, [])
    server.metadata = {}
    assert.notEqual(await ask(TOKEN), null)
  })
}

test('an issuer that differs by a slash alone is another', async (t) => {
  const { server, issuer, ask } = await start(t)
  server.metadata = { issuer: `${issuer}/` }
  const message =
    'the metadata of the issuer cannot be used: the discovery document is of another issuer'
  await assert.rejects(ask(TOKEN), { ...METADATA, message })
})

/** Answers that are no metadata, and of which failure. */
const ODD: readonly [what: string, code: string, answer: (response: ServerResponse) => unknown][] =
  [
    ['500', 'METADATA', (response) => response.writeHead(500).end()],
    ['404 in both places', 'METADATA', (response) => response.writeHead(404).end()],
    ['a redirect', 'METADATA', (response) => response.writeHead(301, { location: '/x' }).end()],
    ['no JSON', 'METADATA', (response) => response.end('<!doctype html>')],
    ['a list', 'METADATA', (response) => json(response, [])],
    ['too much', 'NO_ANSWER', (response) => json(response, { pad: 'x'.repeat(2 ** 20) })],
    ['a reset', 'NO_ANSWER', (response) => response.socket?.resetAndDestroy()],
  ]

for (const [what, code, answer] of ODD) {
  test(`of an issuer that answers with ${what} no endpoint is known, until it answers`, async (t) => {
    const { server, ask } = await start(t)
    server.elsewhere = answer
    await assert.rejects(ask(TOKEN), { code: `ERR_INTROSPECTION_${code}` })
    assert.equal(server.paths.includes('/x'), false)
    server.elsewhere = undefined
    assert.notEqual(await ask(TOKEN), null)
  })
}

test('tokens that come together read the metadata once', async (t) => {
  const { server, ask } = await start(t)
  await Promise.all([ask(TOKEN), ask(TOKEN), ask('another')])
  assert.deepEqual(server.paths, [OPENID])
})

test('metadata are read each hour, and no token waits for that', async (t) => {
  const { server, ask } = await start(t)
  await ask(TOKEN)
  t.mock.timers.tick(HOUR - 1)
  await ask(TOKEN)
  assert.equal(server.paths.length, 1)
  t.mock.timers.tick(1)
  let answer = () => {}
  server.elsewhere = (response) => {
    answer = () => json(response, { issuer: server.issuer, introspection_endpoint: server.url })
  }
  assert.notEqual(await ask(TOKEN), null)
  await until(() => server.paths.length === 2)
  assert.notEqual(await ask(TOKEN), null)
  answer()
})

test('an endpoint that is new in the metadata gets a random token before a real one', async (t) => {
  const { server, issuer, ask } = await start(t)
  await ask(TOKEN)
  server.asked.length = 0
  const other = await introspectionServer(t)
  other.active.set(TOKEN, { sub: 'bob' })
  server.metadata = { introspection_endpoint: other.url }
  t.mock.timers.tick(HOUR)
  await ask(TOKEN)
  await until(() => other.asked.length === 1)
  while (server.asked.length < 100) {
    const answer = await ask(TOKEN)
    if (typeof answer === 'object' && answer?.['sub'] === 'bob') break
  }
  assert.deepEqual(await ask(TOKEN), { sub: 'bob', iss: issuer })
  assert.equal(other.asked[0]?.token === TOKEN, false)
})

test('while the issuer is away, the endpoint serves for one hour more', async (t) => {
  const { server, ask } = await start(t)
  await ask(TOKEN)
  server.elsewhere = (response) => response.writeHead(503).end()
  t.mock.timers.tick(2 * HOUR - 1)
  assert.notEqual(await ask(TOKEN), null)
  await until(() => server.paths.length === 2)
  // The rest after a failure, which is a second at first, is not over.
  assert.notEqual(await ask(TOKEN), null)
  assert.equal(server.paths.length, 2)
  t.mock.timers.tick(1)
  await assert.rejects(ask(TOKEN), METADATA)
  assert.equal(server.paths.length, 2)
  t.mock.timers.tick(999)
  server.elsewhere = undefined
  assert.notEqual(await ask(TOKEN), null)
})

test('where answers are to be signed, the issuer names its keys', async (t) => {
  for (const jwks_uri of [undefined, 'http://login.example.com/keys', 1]) {
    const { server, issuer, ask } = await start(t, { signed: true })
    server.metadata = { jwks_uri }
    await assert.rejects(ask(TOKEN), METADATA)
    const given = introspection({ issuer, url: server.url, signed: true, ...CLIENT })
    await assert.rejects(given(TOKEN), METADATA)
    assert.deepEqual(server.asked, [])
    t.mock.timers.reset()
  }
})
