import assert from 'node:assert/strict'
import { once } from 'node:events'
import { IncomingMessage, ServerResponse } from 'node:http'
import { connect, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { AdmissionSignal, onResponseEnd } from '../../lib/guard/abort-signal.ts'
import { type AuthContext, admittedContextOf } from '../../lib/guard/context.ts'
import type { AuthOptions } from '../../lib/index.ts'
import { authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'

/** How a request of a token that lasts so many seconds was let through. */
async function admitted(
  t: TestContext,
  expiresIn: number,
  options: AuthOptions = {},
  opaque?: string,
) {
  const app = await guardedApp(t, options)
  let context: AuthContext | undefined
  app.get('/', async (request) => {
    context = admittedContextOf(request)
  })
  const token = opaque ?? (await authority.token({ jti: 'j' }, { expiresIn }))
  await app.inject({ url: '/', headers: { authorization: `Bearer ${token}` } })
  assert.ok(context, 'the request was let through')
  return context
}

test('an admission by an answer without exp ends with the answer, without a tolerance', async (t) => {
  holdTime(t, { apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  const claims = { iss: authority.issuer, aud: authority.audience, sub: 'machine' }
  const options = { opaqueToken: async () => claims, opaqueMaxAge: 20, clockTolerance: 7 }
  const { signal } = new AdmissionSignal(await admitted(t, 30, options, 'key'))
  t.mock.timers.tick(19_999)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal.aborted, true)
})

test('a signal that ends while it begins to watch lets go of what it watches', async (t) => {
  const context = await admitted(t, 30)
  let released = 0
  const watchRevocation = (_token: unknown, end: () => void) => {
    end()
    return () => void released++
  }
  const rules = { value: { ...context.rules, watchRevocation } }
  const { signal } = new AdmissionSignal(Object.create(context, { rules }))
  assert.deepEqual([signal.aborted, signal.reason.reason, released], [true, 'revoked', 1])
})

/** Requests that come one behind another on one connection, and that the test answers by hand. */
async function pipelined(count: number) {
  const exchanges: { request: IncomingMessage; response: ServerResponse }[] = []
  const { url } = await askedServer((request, response) => {
    exchanges.push({ request, response })
  })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.resume().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count))
  await until(() => exchanges.length === count)
  /** The number of reports of the end of each response. */
  const reported = exchanges.map(() => 0)
  const watch = (index: number) => {
    const exchange = exchanges[index]
    assert.ok(exchange, `there is request ${index}`)
    onResponseEnd(exchange.request, exchange.response, () => {
      reported[index] = (reported[index] ?? 0) + 1
    })
    return exchange
  }
  return { watch, reported, exchanges, socket }
}

const ENDED: [what: string, end: (of: Awaited<ReturnType<typeof pipelined>>) => unknown][] = [
  ['a response that is destroyed', ({ exchanges: [one] }) => one?.response.destroy()],
  ['a connection that is destroyed', ({ exchanges: [one] }) => one?.request.socket.destroy()],
]

for (const [what, end] of ENDED) {
  test(`the end of ${what} is reported at once`, async (t) => {
    const exchange = await pipelined(1)
    t.after(() => exchange.socket.destroy())
    await end(exchange)
    exchange.watch(0)
    assert.deepEqual(exchange.reported, [1])
  })
}

test('the end of a finished response is reported at once', async (t) => {
  const { watch, reported, exchanges, socket } = await pipelined(1)
  t.after(() => socket.destroy())
  const { response } = exchanges[0] ?? {}
  assert.ok(response, 'there is a response')
  const reportedAtOnce = new Promise((resolve) => {
    response.once('finish', () => {
      assert.equal(response.destroyed, false)
      watch(0)
      resolve([...reported])
    })
  })
  response.end('x')
  assert.deepEqual(await reportedAtOnce, [1])
})

test('a response that gets its connection late is reported once when that ends', async (t) => {
  const { watch, reported, exchanges, socket } = await pipelined(2)
  t.after(() => socket.destroy())
  const { request, response } = watch(1)
  exchanges[0]?.response.end()
  await until(() => response.socket !== null)
  const closed = once(request.socket, 'close')
  socket.destroy()
  await closed
  assert.deepEqual(reported, [0, 1])
})

test('a response without any connection, as of injectWS, is reported when it closes', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  let reported = 0
  onResponseEnd({}, response, () => reported++)
  assert.equal(reported, 0)
  response.emit('close')
  assert.equal(reported, 1)
})
