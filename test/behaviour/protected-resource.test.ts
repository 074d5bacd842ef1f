import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import cors from '@fastify/cors'
import tenantAuth, { AuthService, resourceMetadata } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { rawRequest } from '../helpers/app/raw-request.ts'
import { outcome } from '../helpers/app/refusals.ts'

const resource = 'https://api.test/mcp'
const PATH = '/.well-known/oauth-protected-resource/mcp'
const METADATA = `resource_metadata="https://api.test${PATH}"`

async function listening(t: TestContext) {
  const app = await guardedApp(t, { resource })
  await app.register(resourceMetadata, { scopes: ['menu:read'] })
  app.get('/menu', { config: { tenant: true, require: 'menu:read' } }, async () => 'soup')
  app.get('/*', async () => 'never')
  await app.listen({ host: '127.0.0.1', port: 0 })
  return app
}

/** Headers of a request that name another host, or another address. */
const NAMES: readonly (readonly string[])[] = [
  ['host: evil.test'],
  ['host: evil.test:1'],
  ['host: api.test", resource_metadata="https://evil.test'],
  ['host:'],
  ['host: a', 'x-forwarded-host: evil.test', 'x-forwarded-proto: http', 'x-forwarded-port: 1'],
  ['host: a', 'forwarded: host=evil.test;proto=http;for=10.0.0.1'],
  ['host: a', 'x-original-url: https://evil.test/', 'x-rewrite-url: //evil.test/'],
  ['host: a', 'x-forwarded-prefix: //evil.test', 'x-forwarded-path: //evil.test'],
  ['host: a', 'origin: https://evil.test', 'referer: https://evil.test/'],
]

/** Spellings of a path in a request line. */
const TARGETS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}?resource=https://evil.test`,
  (path) => `http://evil.test${path}`,
  (path) => `https://user@evil.test:1${path}`,
]

/** What an answer says beside the date. */
const undated = (answer: string) => answer.replace(/\r\ndate: [^\r]*/i, '')

test('no challenge is made of the Host header, forwarded headers or the address of the request', async (t) => {
  const app = await listening(t)
  const expected = `Bearer realm="api", scope="menu:read", ${METADATA}`
  const forbidden = `Bearer realm="api", error="insufficient_scope", ${METADATA}`
  const { authorization } = await as()
  for (const names of NAMES) {
    for (const target of TARGETS) {
      const close = [...names, 'connection: close']
      const stranger = await rawRequest(app, `GET ${target('/menu')} HTTP/1.1`, ...close)
      const challengeLine = /^www-authenticate: (.*)\r$/im
      assert.equal(challengeLine.exec(stranger)?.[1], expected, stranger)
      assert.doesNotMatch(stranger, /evil/)
      const foreign = await rawRequest(
        app,
        `GET ${target('/menu?tenant=busy-beaver').replace(/(tenant=.*)\?/, '$1&')} HTTP/1.1`,
        `authorization: ${authorization}`,
        ...close,
      )
      assert.equal(challengeLine.exec(foreign)?.[1], forbidden, foreign)
      assert.doesNotMatch(foreign, /evil/)
    }
  }
})

test('no byte of the document is made of a request, and every caller gets the same', async (t) => {
  const app = await listening(t)
  const bearers = [
    ...[await as(), await as({ '*': ['a:b'] }), await authority.headers({}, { expiresIn: -60 })],
    ...[{ authorization: 'Bearer forged' }, { authorization: 'Basic YTpi' }],
  ]
  const others = [
    'accept: text/html',
    'accept-language: cs',
    'accept-encoding: gzip, br',
    'if-none-match: *',
    'range: bytes=0-3',
    'cookie: session=1',
    'mcp-protocol-version: 2025-06-18',
    ...bearers.map(({ authorization }) => `authorization: ${authorization}`),
  ]
  const requests = [...NAMES, ...others.map((header) => ['host: a', header])]
  const answers = new Set<string>()
  for (const headers of requests) {
    for (const target of TARGETS) {
      const line = `GET ${target(PATH)} HTTP/1.1`
      answers.add(undated(await rawRequest(app, line, ...headers, 'connection: close')))
    }
  }
  const [answer = '', ...more] = answers
  assert.deepEqual(more, [])
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  assert.match(head, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(head, /^content-type: application\/json\b/im)
  assert.equal(
    body,
    '{"resource":"https://api.test/mcp","authorization_servers":["https://authority.test"],' +
      '"scopes_supported":["menu:read"],"bearer_methods_supported":["header"]}',
  )
})

test('what a caller gives later changes no byte of the document', async (t) => {
  const scopes = ['menu:read']
  const app = await guardedApp(t, { resource })
  await app.register(resourceMetadata, { scopes })
  const before = (await app.inject(PATH)).body
  scopes.push('menu:edit')
  assert.equal((await app.inject(PATH)).body, before)
})

test('a challenge survives error handlers, also one that answers by itself', async (t) => {
  const app = await guardedApp(t, { resource })
  const config = { require: 'menu:read' }
  const never = async () => 'never'
  app.setErrorHandler(async (_error, _request, reply) =>
    reply.code(418).removeHeader('x').send('teapot'),
  )
  app.get('/whole', { config }, never)
  app.register(async (scope) => {
    scope.setErrorHandler(async (error) => {
      throw error
    })
    scope.get('/scope', { config }, never)
  })
  app.get('/route', { config, errorHandler: (_error, _request, reply) => reply.send('x') }, never)
  app.get('/late', { config: { authorization: true } }, async ({ authorization }) =>
    authorization.require('menu:edit'),
  )
  for (const url of ['/whole', '/scope', '/route']) {
    const { headers } = await app.inject(url)
    const missing = `Bearer realm="api", scope="menu:read", ${METADATA}`
    assert.equal(headers['www-authenticate'], missing, url)
  }
  const { headers } = await app.inject({ url: '/late', headers: await as() })
  const lacking = `Bearer realm="api", error="insufficient_scope", scope="menu:edit", ${METADATA}`
  assert.equal(headers['www-authenticate'], lacking)
})

test('a token for another API is refused, where no audience is given', async (t) => {
  const { publicKeys, issuer } = authority.options
  const app = bareApp(t)
  await app.register(tenantAuth, { publicKeys, issuer, resource })
  app.get('/x', async () => 'ok')
  const got = async (audience: string | string[]) => {
    const headers = await authority.headers({}, { audience })
    return outcome(await app.inject({ url: '/x', headers }))
  }
  assert.equal(await got(resource), '200')
  assert.equal(await got(['other', resource]), '200')
  for (const audience of ['other', `${resource}/`, 'https://api.test', 'https://API.test/mcp']) {
    assert.equal(await got(audience), '401 ERR_AUTH_TOKEN_INVALID', audience)
  }
})

test('a host alone is taken with a slash at its end too, where the audience says so', async (t) => {
  const host = 'https://api.test'
  const { publicKeys, issuer } = authority.options
  const app = bareApp(t)
  const audience = [host, `${host}/`]
  await app.register(tenantAuth, { publicKeys, issuer, resource: host, audience })
  await app.register(resourceMetadata)
  app.get('/x', async () => 'ok')
  for (const aud of audience) {
    const headers = await authority.headers({}, { audience: aud })
    assert.equal(outcome(await app.inject({ url: '/x', headers })), '200', aud)
  }
  const document = await app.inject('/.well-known/oauth-protected-resource')
  assert.equal(document.json().resource, host)
})

test('scopes of one application have resources of their own', async (t) => {
  const app = bareApp(t)
  for (const name of ['menus', 'orders']) {
    await app.register(async (scope) => {
      await scope.register(tenantAuth, trusting({ resource: `https://api.test/${name}` }))
      await scope.register(resourceMetadata)
      await scope.register(async (below) => void below.get('/x', async () => 'never'), {
        prefix: `/${name}`,
      })
    })
  }
  for (const name of ['menus', 'orders']) {
    const url = `/.well-known/oauth-protected-resource/${name}`
    const document = (await app.inject(url)).json()
    assert.equal(document.resource, `https://api.test/${name}`)
    const { headers } = await app.inject(`/${name}/x`)
    const challenge = `Bearer realm="api", resource_metadata="https://api.test${url}"`
    assert.equal(headers['www-authenticate'], challenge)
  }
})

test('applications that share a service have one resource', async (t) => {
  const auth = new AuthService(trusting({ resource }))
  const apps = [bareApp(t), bareApp(t)]
  const documents = []
  for (const app of apps) {
    await auth.install(app)
    await app.register(resourceMetadata)
    documents.push((await app.inject(PATH)).body)
  }
  assert.equal(documents[0], documents[1])
})

for (const side of ['before', 'after'] as const) {
  test(`with @fastify/cors ${side} the guard a page of another origin ${side === 'before' ? 'asks and ' : ''}reads the document`, async (t) => {
    const app = bareApp(t)
    if (side === 'before') await app.register(cors, { origin: '*' })
    await app.register(tenantAuth, trusting({ resource }))
    if (side === 'after') await app.register(cors, { origin: '*' })
    await app.register(resourceMetadata)
    const origin = 'https://inspector.test'
    const read = await app.inject({ url: PATH, headers: { origin } })
    assert.equal(read.statusCode, 200)
    assert.equal(read.headers['access-control-allow-origin'], '*')
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: PATH,
      headers: {
        origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'mcp-protocol-version',
      },
    })
    assert.equal(preflight.statusCode, side === 'before' ? 204 : 401)
  })
}
