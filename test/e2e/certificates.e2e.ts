import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import tls from 'node:tls'
import Fastify, { type FastifyInstance } from 'fastify'
import {
  type CertificateHeader,
  certificateFrom,
} from '../../lib/entrypoints/certificates/index.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { missing } from '../helpers/servers/commands.ts'
import { selfSigned } from '../helpers/servers/self-signed.ts'
import { startTlsProxy, type TlsProxy } from '../helpers/servers/tls-proxy.ts'

type Pair = ReturnType<typeof selfSigned>

const [ALICE, BOB, STRANGER] = ['alice', 'bob', 'stranger'].map((name) =>
  selfSigned(`${name}.test`),
)
assert.ok(ALICE && BOB && STRANGER, 'there are three')

const printOf = ({ cert }: Pair) => sha256(new X509Certificate(cert).raw)
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64url')

const KINDS: [proxy: 'nginx' | 'haproxy', header: CertificateHeader, lie: string][] = [
  ['nginx', 'ssl-client-cert', encodeURIComponent(BOB.cert)],
  ['haproxy', 'client-cert', `:${new X509Certificate(BOB.cert).raw.toString('base64')}:`],
]

const folder = tempFolder()

for (const [kind, header, lie] of KINDS) {
  describe(`the certificate of a client behind ${kind}`, { skip: missing(kind) }, () => {
    let onPort: FastifyInstance
    let onSocket: FastifyInstance
    let port: number
    let proxy: TlsProxy
    before(async () => {
      const path = join(folder.path, `${kind}.socket`)
      onPort = application(header, ['127.0.0.1'])
      onSocket = application(header, ['unix'])
      port = Number(new URL(await onPort.listen({ port: 0, host: '127.0.0.1' })).port)
      await onSocket.listen({ path })
      proxy = await startTlsProxy(kind, { port, path }, [ALICE.cert, BOB.cert])
    })
    after(async () => {
      await proxy.close()
      await onPort.close()
      await onSocket.close()
    })

    const ask = (path: string, over: https.RequestOptions) =>
      answerTo(https.get({ port: proxy.port, path, rejectUnauthorized: false, ...over }))

    for (const path of ['/', '/unix']) {
      it(`is that of the connection, over TLS 1.2 and 1.3 (${path})`, async () => {
        for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
          const over = { maxVersion, agent: false } as const
          assert.equal(await ask(path, { ...over, ...ALICE }), printOf(ALICE))
          assert.equal(await ask(path, { ...over, ...BOB }), printOf(BOB))
          assert.equal(await ask(path, over), 'none')
        }
      })

      it(`is never that of a header which the client sends (${path})`, async () => {
        for (const name of [header, header.toUpperCase()]) {
          const over = { agent: false, headers: { [name]: lie } } as const
          assert.equal(await ask(path, { ...over, ...ALICE }), printOf(ALICE))
          assert.equal(await ask(path, over), 'none')
        }
      })
    }

    it('of a stranger reaches no application as one that is trusted', async () => {
      const answer = await ask('/', { agent: false, ...STRANGER }).catch(() => 'refused')
      assert.ok(answer === 'refused' || answer.includes('400'), answer)
    })

    it('is there, or is none, in a session that is resumed', async (t) => {
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        let session: Buffer | undefined
        const askAgain = async () => {
          const options = { port: proxy.port, rejectUnauthorized: false, maxVersion, ...ALICE }
          const socket: tls.TLSSocket = tls.connect({ ...options, ...(session && { session }) })
          socket.on('session', (ticket) => {
            session = ticket
          })
          const answer = await answerTo(http.get({ createConnection: () => socket }))
          return { answer, isResumed: socket.isSessionReused() }
        }
        const own = printOf(ALICE)
        assert.deepEqual(await askAgain(), { answer: own, isResumed: false })
        const { answer, isResumed } = await askAgain()
        t.diagnostic(`${maxVersion}: ${isResumed ? 'resumed' : 'not resumed'}, ${answer}`)
        // A proxy may have forgotten it, and never gives another one.
        assert.ok(answer === own || (isResumed && answer === 'none'), answer)
      }
    })

    it('does not count from an address that is no proxy', async () => {
      const asked = (localAddress: string) =>
        answerTo(
          http.get({
            port,
            host: '127.0.0.1',
            localAddress,
            headers: { [header]: lie },
            agent: false,
          }),
        )
      assert.equal(await asked('127.0.0.2'), 'none')
      assert.equal(await asked('127.0.0.1'), printOf(BOB), 'whoever has the address is the proxy')
    })
  })
}

/** Answers with the thumbprint of the certificate. */
function application(header: CertificateHeader, proxies: readonly string[]): FastifyInstance {
  const read = certificateFrom(header, { proxies })
  const app = Fastify()
  app.get('/*', async (request) => {
    const raw = read(request)
    return raw === null ? 'none' : sha256(raw)
  })
  return app
}

async function answerTo(request: http.ClientRequest): Promise<string> {
  const [response] = await once(request, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}
