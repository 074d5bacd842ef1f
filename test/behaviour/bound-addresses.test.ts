import assert from 'node:assert/strict'
import { test } from 'node:test'
import websocket from '@fastify/websocket'
import {
  addressedApp,
  assertUnproved,
  boundApp,
  PREFIX,
  sendTarget,
} from '../helpers/app/bound-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { greeting, refusal, socketTo } from '../helpers/app/sockets.ts'
import { boundToken, HOLDER, proofOf, provedBy } from '../helpers/tokens/bound.ts'

/** A request, the address in its proof, and whether they are the same. */
const SPELLINGS: readonly [what: string, url: string, htu: string, same: boolean][] = [
  ['as it is', '/a', `${PREFIX}/a`, true],
  ['a host in upper case', '/a', 'https://API.TEST/svc2/a', true],
  ['a scheme in upper case', '/a', 'HTTPS://api.test/svc2/a', true],
  ['the usual port', '/a', 'https://api.test:443/svc2/a', true],
  ['another port', '/a', 'https://api.test:8443/svc2/a', false],
  ['another scheme', '/a', 'http://api.test/svc2/a', false],
  ['the port of another scheme', '/a', 'http://api.test:443/svc2/a', false],
  ['a WebSocket scheme', '/a', 'wss://api.test/svc2/a', false],
  ['a scheme of its own', '/a', 'x://api.test/svc2/a', false],
  ['another host', '/a', 'https://evil.test/svc2/a', false],
  ['a dot after the host', '/a', 'https://api.test./svc2/a', false],
  ['a host below', '/a', 'https://x.api.test/svc2/a', false],
  ['a host that begins alike', '/a', 'https://api.test.evil.test/svc2/a', false],
  ['a user', '/a', 'https://api.test@evil.test/svc2/a', false],
  ['a user of the right host', '/a', 'https://user@api.test/svc2/a', false],
  ['a user and a password', '/a', 'https://user:secret@api.test/svc2/a', false],
  ['a password alone', '/a', 'https://:secret@api.test/svc2/a', false],
  ['an address within a blob', '/a', 'blob:https://api.test/svc2/a', false],
  ['the query of the request', '/a?b=c', `${PREFIX}/a?b=c`, true],
  ['no query', '/a?b=c', `${PREFIX}/a`, true],
  ['another query', '/a?b=c', `${PREFIX}/a?d`, true],
  ['a query more', '/a', `${PREFIX}/a?b`, true],
  ['an empty query', '/a', `${PREFIX}/a?`, true],
  ['a fragment', '/a', `${PREFIX}/a#b`, true],
  ['an address in the query', '/a?/../b', `${PREFIX}/a`, true],
  ['an encoded question mark', '/a?b', `${PREFIX}/a%3Fb`, false],
  ['an encoded question mark in the request', '/a%3Fb', `${PREFIX}/a?b`, false],
  ['an encoded hash in the request', '/a%23b', `${PREFIX}/a#b`, false],
  ['a slash at its end', '/a', `${PREFIX}/a/`, false],
  ['no slash at its end', '/a/', `${PREFIX}/a`, false],
  ['a slash twice', '/a', `${PREFIX}//a`, false],
  ['a slash twice in the request', '//a', `${PREFIX}/a`, false],
  ['a slash twice in both', '//a', `${PREFIX}//a`, true],
  ['upper case', '/a', `${PREFIX}/A`, false],
  ['a prefix in upper case', '/a', 'https://api.test/SVC2/a', false],
  ['no prefix', '/a', 'https://api.test/a', false],
  ['the prefix alone', '/a', PREFIX, false],
  ['the prefix twice', '/a', `${PREFIX}/svc2/a`, false],
  ['the path alone', '/a', '/svc2/a', false],
  ['another path', '/a', `${PREFIX}/b`, false],
  ['a path that begins alike', '/a', `${PREFIX}/ab`, false],
  ['a path below', '/a/b', `${PREFIX}/a`, false],
  ['the root', '/', `${PREFIX}/`, true],
  ['the root without its slash', '/', PREFIX, false],
  ['an unreserved character encoded', '/A', `${PREFIX}/%41`, true],
  ['an unreserved character decoded', '/%41', `${PREFIX}/A`, true],
  ['a tilde encoded', '/~a', `${PREFIX}/%7Ea`, true],
  ['a tilde encoded in lower case', '/~a', `${PREFIX}/%7ea`, true],
  ['a hyphen decoded', '/a%2Db', `${PREFIX}/a-b`, true],
  ['an underscore decoded', '/a%5fb', `${PREFIX}/a_b`, true],
  ['hexadecimal in upper case', '/a%2fb', `${PREFIX}/a%2Fb`, true],
  ['hexadecimal in lower case', '/a%2Fb', `${PREFIX}/a%2fb`, true],
  ['a slash encoded', '/a/b', `${PREFIX}/a%2Fb`, false],
  ['a slash decoded', '/a%2Fb', `${PREFIX}/a/b`, false],
  ['encoded twice', '/A', `${PREFIX}/%2541`, false],
  ['encoded twice in the request', '/%2541', `${PREFIX}/%41`, false],
  ['encoded twice in both', '/%2541', `${PREFIX}/%2541`, true],
  ['a space', '/a%20b', `${PREFIX}/a%20b`, true],
  ['a space as a plus', '/a%20b', `${PREFIX}/a+b`, false],
  ['a comma encoded', '/a,b', `${PREFIX}/a%2Cb`, false],
  ['a colon encoded', '/a:b', `${PREFIX}/a%3Ab`, false],
  ['letters beyond ASCII', '/%C3%A9', `${PREFIX}/%C3%A9`, true],
  ['letters beyond ASCII in lower case', '/%C3%A9', `${PREFIX}/%c3%a9`, true],
  ['letters beyond ASCII as they are', '/%C3%A9', `${PREFIX}/é`, true],
  ['letters in another form', '/%C3%A9', `${PREFIX}/e\u0301`, false],
  ['a semicolon', '/a;b=c', `${PREFIX}/a;b=c`, true],
  ['no semicolon', '/a;b=c', `${PREFIX}/a`, false],
]

for (const [what, url, htu, same] of SPELLINGS) {
  test(`a proof with ${what} is ${same ? 'good' : 'refused'}: ${htu} for ${url}`, async (t) => {
    const { app, token } = await addressedApp(t)
    const headers = provedBy(HOLDER, token, { claims: { htu } })
    const response = await app.inject({ url, headers })
    if (!same) return assertUnproved(response, 'invalid_dpop_proof')
    assert.equal(outcome(response), '200')
    assertUnproved(await app.inject({ url, headers }), 'invalid_dpop_proof')
  })
}

test('a lying Host or forwarded header changes nothing, whatever the proxy is trusted', async (t) => {
  for (const trustProxy of [false, true]) {
    const { app, token } = await addressedApp(t, { trustProxy })
    await app.listen({ host: '127.0.0.1', port: 0 })
    const lies = [
      ['Host: evil.test'],
      ['Host: '],
      ['Host: api.test/svc2/b?'],
      ['Host: api.test', 'X-Forwarded-Host: evil.test', 'X-Forwarded-Proto: http'],
      ['Host: api.test', 'X-Forwarded-Prefix: /evil', 'X-Forwarded-Port: 99'],
      ['Host: api.test', 'Forwarded: host=evil.test;proto=http', 'X-Forwarded-Path: /b'],
      ['Host: api.test', 'X-Original-URL: /b', 'X-Rewrite-URL: /b'],
    ]
    for (const lie of lies) {
      const ask = async (url: string) =>
        (await sendTarget(app, '/a', token, proofOf(HOLDER, { token, url }), ...lie)).slice(9, 12)
      assert.equal(await ask(`${PREFIX}/a`), '200', lie.join())
      for (const other of ['https://evil.test/svc2/a', 'https://evil.test/a', `${PREFIX}/b`]) {
        assert.equal(await ask(other), '401', lie.join())
      }
    }
  }
})

test('the path is that of the request, not of what the server makes of it', async (t) => {
  const rewriteUrl = ({ url }: { url?: string | undefined }) => `${url}`.replace('/old', '/a')
  const { app, token } = await addressedApp(t, { rewriteUrl })
  const ask = async (htu: string) =>
    outcome(await app.inject({ url: '/old', headers: provedBy(HOLDER, token, { url: htu }) }))
  assert.equal(await ask(`${PREFIX}/old`), '200')
  assert.equal(await ask(`${PREFIX}/a`), '401 ERR_AUTH_TOKEN_INVALID')
})

test('a router that is lenient makes no address another one', async (t) => {
  const routerOptions = {
    ignoreTrailingSlash: true,
    ignoreDuplicateSlashes: true,
    caseSensitive: false,
    useSemicolonDelimiter: true,
  }
  const { app, token } = await addressedApp(t, { routerOptions })
  app.get('/exact', async () => 'exact')
  for (const url of ['/exact', '/exact/', '//exact', '/EXACT', '/exact;a=b']) {
    for (const path of ['/exact', '/exact/', '//exact', '/EXACT', '/exact;a=b']) {
      const headers = provedBy(HOLDER, token, { url: PREFIX + path })
      const { statusCode } = await app.inject({ url: `http://localhost${url}`, headers })
      assert.equal(statusCode, path === url ? 200 : 401, `${path} for ${url}`)
    }
  }
})

test('the method is that of the request: HEAD is not GET, whichever route answers', async (t) => {
  const { app, token } = await addressedApp(t)
  for (const method of ['GET', 'HEAD', 'POST'] as const) {
    for (const of of ['GET', 'HEAD', 'POST']) {
      const headers = {
        ...provedBy(HOLDER, token, { url: `${PREFIX}/me`, method: of }),
        'x-http-method-override': of,
      }
      const { statusCode } = await app.inject({ method, url: '/me', headers })
      assert.equal(statusCode, method === of ? 200 : 401, `${of} for ${method}`)
    }
  }
})

test('a WebSocket is opened by a proof of its https address', async (t) => {
  const app = await boundApp(t, { publicUrl: PREFIX })
  await app.register(websocket)
  const config = { tenant: 'required' } as const
  app.get('/:tenant/chat', { websocket: true, config }, (socket, request) =>
    socket.send(`${request.tenant}`),
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  const token = await boundToken()
  const path = '/lazy-raccoon/chat'
  for (const url of [`wss://api.test/svc2${path}`, `ws://api.test/svc2${path}`, `${PREFIX}/chat`]) {
    const headers = provedBy(HOLDER, token, { url })
    assert.equal((await refusal(socketTo(app, path, { headers }))).statusCode, 401)
  }
  const headers = provedBy(HOLDER, token, { url: PREFIX + path })
  assert.equal(await greeting(socketTo(app, path, { headers })), 'lazy-raccoon')
  assert.equal((await refusal(socketTo(app, path, { headers }))).statusCode, 401)
})

test('a proof does not bind the query: the tenant there may be another of the user', async (t) => {
  const app = await boundApp(t)
  const headers = provedBy(HOLDER, await boundToken(), { url: '/query?tenant=lazy-raccoon' })
  const response = await app.inject({ url: '/query?tenant=quiet-otter', headers })
  assert.equal(response.body, 'quiet-otter')
})
