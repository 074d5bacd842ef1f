import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import net from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import tls from 'node:tls'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import {
  type CertificateHeader,
  certificateFrom,
} from '../../../lib/entrypoints/certificates/index.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { configError } from '../../helpers/app/config-error.ts'
import { logLines } from '../../helpers/app/log-lines.ts'
import { tempFolder } from '../../helpers/documents/temp-folder.ts'
import { selfSigned } from '../../helpers/servers/self-signed.ts'

const { cert, key } = selfSigned('client.test')
const base64 = cert.replace(/-----.*-----|\n/g, '')
const escaped = encodeURIComponent(cert)
const print = createHash('sha256').update(Buffer.from(base64, 'base64')).digest('base64url')

/** The header of each proxy, with the same certificate. */
const GOOD: [header: CertificateHeader, value: string][] = [
  ['client-cert', `:${base64}:`],
  ['x-forwarded-client-cert', `By=spiffe://a/b;Hash=00;Cert="${escaped}";Subject=""`],
  ['ssl-client-cert', escaped],
]

type Read = (request: FastifyRequest) => Buffer | null

/** An application that answers with the thumbprint of the certificate, or with `none`. */
function answering(read: Read, options: object = {}) {
  const log = logLines('warn')
  const app = Fastify({ logger: log.logger, ...options })
  app.get('/', async (request) => thumbprint(read(request)))
  return { app, log }
}

async function portOf(app: FastifyInstance): Promise<number> {
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}

const thumbprint = (raw: Buffer | null) =>
  raw === null ? 'none' : createHash('sha256').update(raw).digest('base64url')

for (const [header, value] of GOOD) {
  test(`the certificate of ${header} counts from a proxy, in any case of its name`, async () => {
    const { app, log } = answering(certificateFrom(header, { proxies: ['127.0.0.0/8'] }))
    for (const name of [header, header.toUpperCase()]) {
      assert.equal((await app.inject({ url: '/', headers: { [name]: value } })).body, print)
    }
    assert.equal((await app.inject('/')).body, 'none')
    for (const odd of ['', ' ', 'x', `${value}x`, `${value},${value}`, `${value}, ${value}`]) {
      const { body } = await app.inject({ url: '/', headers: { [header]: odd } })
      // Envoy adds an element for each proxy.
      const isList = header === 'x-forwarded-client-cert' && odd.includes(',')
      assert.equal(body, isList ? print : 'none', odd)
    }
    assert.deepEqual(log.raw, [])
  })

  test(`${header} does not count from elsewhere, whatever other headers say`, async (t) => {
    let now = 0
    clock.now = () => now
    t.after(() => Reflect.deleteProperty(clock, 'now'))
    const read = certificateFrom(header, { proxies: ['10.0.0.0/8', 'unix'] })
    const { app, log } = answering(read, { trustProxy: true })
    const headers = {
      [header]: value,
      'x-forwarded-for': '10.0.0.1',
      forwarded: 'for=10.0.0.1',
      'x-real-ip': '10.0.0.1',
    }
    for (const remoteAddress of ['127.0.0.1', '11.0.0.1', '::1', '::a00:1', 'unix']) {
      const { body } = await app.inject({ url: '/', headers, remoteAddress })
      assert.equal(body, 'none', remoteAddress)
    }
    const message = `tenant auth: the header ${header} does not count from this address`
    assert.deepEqual(log.messages(40), [message], 'once a minute')
    assert.equal(log.lines(message)[0]?.['remoteAddress'], '127.0.0.1')
    now += 59_999
    await app.inject({ url: '/', headers })
    assert.equal(log.raw.length, 1)
    now += 1
    await app.inject({ url: '/', headers })
    assert.equal(log.raw.length, 2)
    await app.inject('/')
    for (const line of log.raw) assert.equal(line.includes(base64.slice(0, 20)), false)
    const { body } = await app.inject({ url: '/', headers, remoteAddress: '::ffff:10.0.0.1' })
    assert.equal(body, print, 'IPv4 in IPv6 is IPv4')
  })

  test(`a header ${header} of two lines, or of more than 16 KiB, is none`, async (t) => {
    const read = certificateFrom(header, { proxies: ['127.0.0.1'] })
    const { app } = answering(read, { http: { maxHeaderSize: 65_536 } })
    const port = await portOf(app)
    t.after(() => app.close())
    const ask = (...lines: string[]) =>
      rawAnswer(
        net.connect(port, '127.0.0.1'),
        lines.map((line) => `${header}: ${line}`),
      )
    assert.equal(await ask(value), print)
    assert.equal(await ask(value, value), 'none')
    assert.equal(await ask(value, ''), 'none')
    assert.equal(await ask('', value), 'none')
    // Whatever is that long cannot count, well formed or not.
    if (header !== 'x-forwarded-client-cert') return
    const long = (length: number) => `By=${'a'.repeat(length - value.length - 4)},${value}`
    assert.deepEqual(await Promise.all([16_384, 16_385].map((n) => ask(long(n)))), [print, 'none'])
  })
}

/** The body of an answer over HTTP/1.1, to a request with these lines. */
async function rawAnswer(socket: net.Socket, lines: readonly string[]): Promise<string> {
  const head = ['GET / HTTP/1.1', 'host: a.test', 'connection: close', ...lines, '', '']
  socket.write(head.join('\r\n'))
  let text = ''
  for await (const chunk of socket) text += chunk
  return text.split('\r\n\r\n')[1] ?? ''
}

const folder = tempFolder()
const HEADER = ['client-cert', `:${base64}:`] as const
const headers = { [HEADER[0]]: HEADER[1] }
const fromUnix = () => certificateFrom('client-cert', { proxies: ['unix'] })
const fromLoopback = () => certificateFrom('client-cert', { proxies: ['127.0.0.1', '::1'] })

/** How an application listens and is asked: with TLS or without, by HTTP/1.1 or HTTP/2. */
const KINDS: [what: string, options: object, isHttp2: boolean][] = [
  ['HTTP/1.1', {}, false],
  ['HTTP/1.1 with TLS', { https: { cert, key } }, false],
  ['HTTP/2', { http2: true }, true],
  ['HTTP/2 with TLS', { http2: true, https: { cert, key } }, true],
]

for (const [what, options, isHttp2] of KINDS) {
  const isTls = 'https' in options
  const ask = (to: net.NetConnectOpts): Promise<string> => {
    const socket = isTls
      ? tls.connect({
          ...to,
          rejectUnauthorized: false,
          ALPNProtocols: [isHttp2 ? 'h2' : 'http/1.1'],
        })
      : net.connect(to)
    return isHttp2 ? http2Answer(socket) : rawAnswer(socket, [`client-cert: ${HEADER[1]}`])
  }

  test(`the address of a connection counts with ${what}`, async (t) => {
    for (const [read, expected] of [
      [fromLoopback(), print],
      [fromUnix(), 'none'],
    ] as const) {
      const { app } = answering(read, options)
      const port = await portOf(app)
      t.after(() => app.close())
      assert.equal(await ask({ port, host: '127.0.0.1' }), expected)
    }
  })

  test(`a unix socket counts where unix is named, with ${what}`, async (t) => {
    for (const [name, read, expected] of [
      ['a', fromUnix(), print],
      ['b', fromLoopback(), 'none'],
    ] as const) {
      const { app, log } = answering(read, options)
      const path = join(folder.path, `${isTls}-${isHttp2}-${name}`)
      await app.listen({ path })
      t.after(() => app.close())
      assert.equal(await ask({ path }), expected)
      assert.equal(log.raw.length, expected === print ? 0 : 1)
    }
  })
}

async function http2Answer(socket: net.Socket): Promise<string> {
  const session = http2.connect('https://a.test', { createConnection: () => socket })
  try {
    let text = ''
    for await (const chunk of session.request({ ':path': '/', ...headers })) text += chunk
    return text
  } finally {
    session.close()
  }
}

for (const isHttp2 of [false, true]) {
  test(`a connection over TCP that has ended is no unix socket (HTTP/${isHttp2 ? 2 : 1})`, async (t) => {
    const read = fromUnix()
    const { server, port, request: asked } = await listening(t, isHttp2)
    const client = isHttp2 ? http2.connect(`http://127.0.0.1:${port}`) : undefined
    client?.on('error', () => {})
    const sent = client?.request({ ':path': '/', ...headers }) ?? http.get({ port, headers })
    sent.on('error', () => {})
    const request = await asked
    const { socket } = request.raw
    if (isHttp2) client?.destroy()
    else socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(read(request), null)
    server.close()
    assert.equal(read(request), null)
    assert.equal(fromLoopback()(request), null)
  })
}

/** A bare server that keeps its first request: nothing has read the address before. */
async function listening(t: TestContext, isHttp2: boolean) {
  const server = isHttp2 ? http2.createServer() : http.createServer()
  const request = new Promise<FastifyRequest>((resolve) =>
    server.on('request', (raw: http.IncomingMessage) => resolve(bareRequest(raw))),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(typeof address === 'object' && address !== null, 'it has a port')
  return { server, port: address.port, request }
}

/** A request of Fastify on a raw one, without an application. */
function bareRequest(raw: http.IncomingMessage): FastifyRequest {
  const log = { warn: () => {} }
  return Object.assign(Object.create(null), { raw, log })
}

const refuses = (args: unknown[], ...parts: (string | RegExp)[]) =>
  assert.throws(
    () => Reflect.apply(certificateFrom, undefined, args),
    configError(...parts, '(certificateFrom())'),
  )

test('another header is refused at boot', () => {
  const names = 'client-cert, x-forwarded-client-cert, ssl-client-cert'
  for (const header of ['Client-Cert', '', 'constructor', undefined, null, 7, ['client-cert']]) {
    refuses([header, { proxies: ['::1'] }], `header: expected one of ${names}, found`)
  }
})

test('proxies are required, and nothing else is known', () => {
  refuses(['client-cert'], 'options: expected an object, found undefined')
  refuses(['client-cert', {}], /^proxies: expected a list of IP addresses, .*, found none/)
  refuses(['client-cert', { proxy: ['::1'] }], 'proxy: expected one of proxies')
  refuses(
    ['client-cert', { proxies: ['::1'], trustProxy: true }],
    'trustProxy: expected one of proxies',
  )
})

test('what is no address is refused at boot', () => {
  const bad = [undefined, null, '10.0.0.1', [], {}, true, [undefined], [7], new Array(1)]
  const texts = [
    ...['', 'UNIX', 'localhost', 'nginx', '*', '10.0.0', '10.0.0.256', '010.0.0.1', ' 10.0.0.1'],
    ...['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/08', '10.0.0.0/-1', '10.0.0.0/8/8', '10.0.0.0/8 '],
    ...['10.0.0.0/255.0.0.0', '::1/129', '[::1]', 'fe80::1%eth0', '::ffff:10.0.0.0/95', '/8'],
  ]
  for (const proxies of [...bad, ...texts.map((text) => ['::1', text])]) {
    refuses(['client-cert', { proxies }], 'proxies: expected a list of IP addresses')
  }
})

test('a list that is changed later changes nothing', async () => {
  const proxies = ['10.0.0.1']
  const { app } = answering(certificateFrom('client-cert', { proxies }))
  proxies.push('127.0.0.1')
  assert.equal((await app.inject({ url: '/', headers })).body, 'none')
})
