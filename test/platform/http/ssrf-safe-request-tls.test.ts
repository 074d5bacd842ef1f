import assert from 'node:assert/strict'
import { createServer, type ServerOptions } from 'node:https'
import { after, test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { tempFolder } from '../../helpers/documents/temp-folder.ts'
import { runChild } from '../../helpers/processes/child.ts'
import { askedServer, portOf } from '../../helpers/servers/asked-server.ts'
import { selfSigned } from '../../helpers/servers/self-signed.ts'

const LIMIT = 60_000
const folder = tempFolder()
const { cert, key } = selfSigned('localhost')
const NODE_EXTRA_CA_CERTS = folder.write(cert)

const server = createServer({ cert, key }, (_, response) => response.end('{"a":1}'))
const port = await portOf(server)
after(() => server.close())

const fetchFrom = (host: string, env: NodeJS.ProcessEnv, at = port) =>
  runChild('judged-fetch', [`https://${host}:${at}/`], [], LIMIT, env)

test('a certificate that the process trusts is good for its own host only', async () => {
  const env = { NODE_EXTRA_CA_CERTS }
  assert.deepEqual(await fetchFrom('localhost', env), { answer: { a: 1 } })
  const failure = 'no answer (ERR_TLS_CERT_ALTNAME_INVALID)'
  assert.deepEqual(await fetchFrom('127.0.0.1', env), { failure })
})

test('a certificate that nobody vouches for is refused', async () => {
  const failure = 'no answer (DEPTH_ZERO_SELF_SIGNED_CERT)'
  assert.deepEqual(await fetchFrom('localhost', {}), { failure })
})

test('a proxy of the environment is not used', async () => {
  const proxy = await askedServer((_, response) => response.end('{"a":"proxy"}'))
  const env = {
    NODE_EXTRA_CA_CERTS,
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: proxy.url,
    http_proxy: proxy.url,
    HTTPS_PROXY: proxy.url,
    https_proxy: proxy.url,
    NO_PROXY: '',
    no_proxy: '',
  }
  assert.deepEqual(await fetchFrom('localhost', env), { answer: { a: 1 } })
  const plain = await askedServer((_, response) => response.end('{"a":2}'))
  const printed = await runChild('judged-fetch', [plain.url], [], LIMIT, env)
  assert.deepEqual(printed, { answer: { a: 2 } })
  assert.equal(proxy.count, 0)
})

test('suites of TLS 1.3 alone are enough, as an operator may want them', async () => {
  const env = {
    NODE_EXTRA_CA_CERTS,
    NODE_OPTIONS: '--tls-cipher-list=TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256',
  }
  assert.deepEqual(await fetchFrom('localhost', env), { answer: { a: 1 } })
})

const COSTLY: readonly (readonly [name: string, options: ServerOptions, again: boolean])[] = [
  [
    'finite fields of its own size',
    { maxVersion: 'TLSv1.2', ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto' },
    false,
  ],
  ['the finite fields of TLS 1.3', { minVersion: 'TLSv1.3', ecdhCurve: 'ffdhe2048' }, false],
  ['one handshake after another', { maxVersion: 'TLSv1.2' }, true],
]

for (const [name, options, again] of COSTLY) {
  test(`a server cannot make a handshake costly by ${name}`, async (t) => {
    const own = selfSigned('localhost', 'rsa')
    const costly = createServer({ ...options, ...own }, ({ socket }, response) => {
      const answer = () => response.end('{"a":1}')
      if (again && socket instanceof TLSSocket) socket.renegotiate({}, answer)
      else answer()
    })
    costly.on('connection', (socket) => t.after(() => socket.destroy()))
    costly.on('secureConnection', (socket) => socket.on('error', () => {}))
    t.after(() => costly.close())
    const at = await portOf(costly)
    const env = { NODE_EXTRA_CA_CERTS: folder.write(own.cert) }
    const { failure } = Object(await fetchFrom('localhost', env, at))
    assert.match(failure, /^no answer \((EPROTO|ECONNRESET|ERR_SSL_[\w/]+)\)$/)
  })
}
