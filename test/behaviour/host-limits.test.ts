import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connect2 } from 'node:http2'
import { connect } from 'node:net'
import test from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { type AuthOptions, tenantAuth, type UserInfo } from '../../lib/index.ts'

// Node before and beside the guard, and the cures that .github/docs/security.md names.

async function listening(app: FastifyInstance, options: AuthOptions): Promise<string> {
  await app.register(tenantAuth, options)
  app.post('/orders', { config: { userInfo: true } }, async (request) => request.userInfo.sub)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.listeningOrigin
}

for (const { maxHeaderSize, status } of [
  { maxHeaderSize: undefined, status: 431 },
  { maxHeaderSize: 32_768, status: 200 },
]) {
  test(`a token that fills the headers is ${status} with Node's maxHeaderSize ${maxHeaderSize ?? 'as it is'}`, async (t) => {
    const authority = await createTestAuthority()
    const app = Fastify(maxHeaderSize === undefined ? {} : { http: { maxHeaderSize } })
    t.after(() => app.close())
    const origin = await listening(app, authority.options)
    const headers = await authority.headers({ filling: 'x'.repeat(12_000) })
    assert.ok(headers.authorization.length < 16_384 + 'Bearer '.length, 'within maxTokenLength')
    assert.ok(headers.authorization.length > 16_300, `${headers.authorization.length}`)
    const answer = await fetch(`${origin}/orders`, { method: 'POST', headers })
    assert.equal(answer.status, status)
  })
}

test('100 Continue is sent before any hook, and the refusal comes after it', async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  const { port } = new URL(await listening(app, authority.options))
  const socket = connect(Number(port), '127.0.0.1').setEncoding('utf8')
  t.after(() => socket.destroy())
  const head = ['POST /orders HTTP/1.1', 'Host: a', 'Expect: 100-continue', 'Content-Length: 5']
  socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`)
  let answer = ''
  socket.on('data', (text) => {
    answer += text
  })
  await once(socket, 'end')
  assert.deepEqual(answer.match(/^HTTP\/1\.1 \d+/gm), ['HTTP/1.1 100', 'HTTP/1.1 401'])
})

test('refused large bodies over HTTP/2 are answered, if a hook reads the rest of them', {
  timeout: 20_000,
}, async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify({ http2: true })
  app.addHook('onError', async (request) => {
    request.raw.resume()
  })
  await app.register(tenantAuth, authority.options)
  app.post('/orders', async () => 'ok')
  await app.listen({ port: 0, host: '127.0.0.1' })
  const client = connect2(app.listeningOrigin)
  t.after(async () => {
    client.destroy()
    await app.close()
  })
  for (let sent = 0; sent < 6; sent++) {
    const stream = client.request({ ':method': 'POST', ':path': '/orders' })
    const closed = once(stream, 'close')
    stream.resume().end(Buffer.alloc(4_000_000))
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 401, `after ${sent} others`)
    await closed
  }
})

/**
 * For a server that gives machines a `client_id` and no `sub`. The prefix keeps machines and users
 * apart.
 */
function withSub({ sub, client_id: client, ...claims }: Record<string, unknown>): UserInfo {
  if (typeof sub === 'string') return { ...claims, sub }
  if (typeof client !== 'string') throw new Error('neither sub nor client_id')
  return { ...claims, sub: `client:${client}` }
}

/** These claims replace those of the test user. */
const WITHOUT_SUB: Record<string, unknown> = { sub: undefined }

const MACHINES: { claims: object; options: AuthOptions; answer: [number, string] }[] = [
  { claims: { client_id: 'billing' }, options: {}, answer: [401, 'ERR_AUTH_TOKEN_INVALID'] },
  {
    claims: { client_id: 'billing' },
    options: { mapClaims: withSub },
    answer: [200, 'client:billing'],
  },
  { claims: {}, options: { mapClaims: withSub }, answer: [401, 'ERR_AUTH_TOKEN_INVALID'] },
  { claims: { sub: 'alice' }, options: { mapClaims: withSub }, answer: [200, 'alice'] },
]

for (const { claims, options, answer } of MACHINES) {
  const named = options.mapClaims === undefined ? 'without mapClaims' : 'with mapClaims'
  test(`a token of ${JSON.stringify(claims)} is answered ${answer.join(' ')} ${named}`, async (t) => {
    const authority = await createTestAuthority()
    const app = Fastify()
    t.after(() => app.close())
    const origin = await listening(app, { ...authority.options, ...options })
    const headers = await authority.headers({ ...WITHOUT_SUB, ...claims })
    const response = await fetch(`${origin}/orders`, { method: 'POST', headers })
    const body = await response.text()
    assert.deepEqual([response.status, response.ok ? body : JSON.parse(body).code], answer)
  })
}
