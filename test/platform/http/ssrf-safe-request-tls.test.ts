import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { after, test } from 'node:test'
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

const fetchFrom = (host: string, env: NodeJS.ProcessEnv) =>
  runChild('judged-fetch', [`https://${host}:${port}/`], [], LIMIT, env)

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
