import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import Fastify from 'fastify'
import tenantAuth from '../../lib/index.ts'
import { as, authority, RIGHTS, trusting, untyped } from '../helpers/app/guarded-app.ts'
import { selfSigned } from '../helpers/servers/self-signed.ts'
import { HOLDER, PUBLIC, proofOf } from '../helpers/tokens/bound.ts'

const SERVER = selfSigned('localhost')
const MINE = selfSigned('client.test')
const OTHER = selfSigned('client.test')

const thumbprintOf = ({ cert }: { readonly cert: string }) =>
  createHash('sha256').update(new X509Certificate(cert).raw).digest('base64url')

const certified = (cnf: object = {}) =>
  authority.token({ resources: RIGHTS, cnf: { 'x5t#S256': thumbprintOf(MINE), ...cnf } })

/** The port of a server that asks its clients for a certificate, and takes any or none. */
async function serve(t: TestContext, http2 = false, requestCert = true, auth: object = {}) {
  const https = { ...SERVER, requestCert, rejectUnauthorized: false, allowHTTP1: true }
  const options = trusting(untyped({ confirmation: 'check', publicUrl: PUBLIC, ...auth }))
  // Two calls, since the kind of the server is a type of its own.
  if (http2) {
    const app = Fastify({ http2: true, https, forceCloseConnections: true })
    t.after(() => app.close())
    await app.register(tenantAuth, options)
    app.get('/me', async () => 'ok')
    await app.listen({ host: '127.0.0.1', port: 0 })
    return portOf(app.server.address())
  }
  const app = Fastify({ https, forceCloseConnections: true })
  t.after(() => app.close())
  await app.register(tenantAuth, options)
  app.get('/me', async () => 'ok')
  await app.listen({ host: '127.0.0.1', port: 0 })
  return portOf(app.server.address())
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address !== null ? address.port : assert.fail('it does not listen')

type Version = 'TLSv1.2' | 'TLSv1.3'
type Client = { readonly cert: string; readonly key: string } | undefined

interface Handshake {
  readonly port: number
  readonly version: Version
  readonly client: Client
  readonly session?: Buffer | undefined
}

const tlsOptions = ({ port, version, client, session }: Handshake): ConnectionOptions => ({
  port,
  host: '127.0.0.1',
  servername: 'localhost',
  ca: SERVER.cert,
  minVersion: version,
  maxVersion: version,
  ...client,
  ...(session && { session }),
})

/** Statuses of requests on one connection, and a session to go on with. */
async function ask(handshake: Handshake, ...requests: (readonly string[])[]) {
  const socket: TLSSocket = connect(tlsOptions(handshake))
  let session: Buffer | undefined
  socket.on('session', (given) => {
    session = given
  })
  await once(socket, 'secureConnect')
  const statuses: string[] = []
  for (const lines of requests) {
    socket.write(`GET /me HTTP/1.1\r\nHost: localhost\r\n${lines.join('\r\n')}\r\n\r\n`)
    const [answer] = await once(socket, 'data')
    statuses.push(String(answer).slice(9, 12))
  }
  const isResumed = socket.isSessionReused()
  socket.destroy()
  return { statuses, isResumed, session }
}

const bearer = (token: string) => [`Authorization: Bearer ${token}`]

const unbound = async () => (await as()).authorization.slice('Bearer '.length)

for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
  test(`over ${version} a certificate proves its token, and no other does`, async (t) => {
    const port = await serve(t)
    const token = await certified()
    const free = await unbound()
    const rows: [client: Client, expected: string[]][] = [
      [MINE, ['200', '200', '200']],
      [OTHER, ['401', '401', '200']],
      [undefined, ['401', '401', '200']],
    ]
    for (const [client, expected] of rows) {
      const requests = [bearer(token), bearer(token), bearer(free)]
      const { statuses } = await ask({ port, version, client }, ...requests)
      assert.deepEqual(statuses, expected)
    }
  })

  test(`over ${version} a resumed session has the certificate of the first, or none`, async (t) => {
    const port = await serve(t)
    const token = await certified()
    const rows: [first: Client, second: Client, expected: string][] = [
      [MINE, MINE, '200'],
      [OTHER, OTHER, '401'],
      [undefined, undefined, '401'],
      // What is shown in a resumed session is not looked at.
      [OTHER, MINE, '401'],
      [undefined, MINE, '401'],
      [MINE, OTHER, '200'],
      [MINE, undefined, '200'],
    ]
    for (const [first, second, expected] of rows) {
      const opened = await ask({ port, version, client: first }, bearer(token))
      assert.ok(opened.session, 'there is no session')
      const { session } = opened
      const { isResumed, statuses } = await ask(
        { port, version, client: second, session },
        bearer(token),
        bearer(token),
      )
      assert.equal(isResumed, true)
      assert.deepEqual(statuses, [expected, expected])
    }
  })

  test(`over ${version} a token of a key and a certificate needs both`, async (t) => {
    const port = await serve(t)
    const token = await certified({ jkt: HOLDER.thumbprint })
    const proved = () => [`Authorization: DPoP ${token}`, `DPoP: ${proofOf(HOLDER, { token })}`]
    const rows: [client: Client, expected: string[]][] = [
      [MINE, ['200', '401', '401', '200']],
      [OTHER, ['401', '401', '401', '401']],
      [undefined, ['401', '401', '401', '401']],
    ]
    for (const [client, expected] of rows) {
      const bare = [bearer(token), [`Authorization: DPoP ${token}`]]
      const requests = () => [proved(), ...bare, proved()]
      const { statuses, session } = await ask({ port, version, client }, ...requests())
      assert.deepEqual(statuses, expected)
      const resumed = await ask({ port, version, client, session }, ...requests())
      assert.equal(resumed.isResumed, true)
      assert.deepEqual(resumed.statuses, expected)
    }
  })

  test(`over ${version} and HTTP/2 the same holds, first and resumed`, async (t) => {
    const port = await serve(t, true)
    const token = await certified()
    const rows: [client: Client, expected: number][] = [
      [MINE, 200],
      [OTHER, 401],
      [undefined, 401],
    ]
    for (const [client, expected] of rows) {
      let session: Buffer | undefined
      for (const turn of ['first', 'resumed']) {
        const handshake = { port, version, client, session }
        const asked = await askHttp2(handshake, { authorization: `Bearer ${token}` })
        assert.deepEqual(asked.statuses, [expected, expected])
        assert.equal(asked.isResumed, turn === 'resumed')
        session = asked.session
      }
    }
  })

  test(`over ${version} a server that asks for no certificate takes no such token`, async (t) => {
    const port = await serve(t, false, false)
    const { statuses } = await ask({ port, version, client: MINE }, bearer(await certified()))
    assert.deepEqual(statuses, ['401'])
  })
}

async function askHttp2(handshake: Handshake, ...requests: Record<string, string>[]) {
  const client = connectHttp2('https://localhost', {
    createConnection: () => connect({ ...tlsOptions(handshake), ALPNProtocols: ['h2'] }),
  })
  let session: Buffer | undefined
  const socket = client.socket
  socket.on('session', (given: Buffer) => {
    session = given
  })
  await once(client, 'connect')
  const statuses: number[] = []
  for (const headers of [...requests, ...requests]) {
    const stream = client.request({ ':path': '/me', ...headers })
    const [answer] = await once(stream, 'response')
    statuses.push(Number(answer[':status']))
    stream.resume()
    await once(stream, 'end')
  }
  const isResumed = Reflect.apply(Reflect.get(socket, 'isSessionReused'), socket, [])
  client.destroy()
  return { statuses, isResumed, session }
}

test('over HTTP/2 a proof is good once, and two of them never', async (t) => {
  const port = await serve(t, true)
  const token = await authority.token({ resources: RIGHTS, cnf: { jkt: HOLDER.thumbprint } })
  const handshake: Handshake = { port, version: 'TLSv1.3', client: undefined }
  const dpop = proofOf(HOLDER, { token })
  const authorization = `DPoP ${token}`
  const { statuses } = await askHttp2(handshake, { authorization, dpop })
  assert.deepEqual(statuses, [200, 401])
  const two = await askHttp2(handshake, { authorization, dpop: `${dpop}, ${dpop}` })
  assert.deepEqual(two.statuses, [401, 401])
  const bare = await askHttp2(handshake, { authorization: `Bearer ${token}` })
  assert.deepEqual(bare.statuses, [401, 401])
})

test('a server that asks for certificates takes Bearer where binding is required', async (t) => {
  for (const [requestCert, challenges] of [
    [true, 2],
    [false, 1],
  ] as const) {
    const port = await serve(t, false, requestCert, { confirmation: 'require' })
    const socket = connect(tlsOptions({ port, version: 'TLSv1.3', client: undefined }))
    await once(socket, 'secureConnect')
    socket.write('GET /me HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const [answer] = await once(socket, 'data')
    socket.destroy()
    const lines = String(answer).match(/^www-authenticate: \w+/gim) ?? []
    assert.equal(lines.length, challenges, `requestCert ${requestCert}`)
  }
})
