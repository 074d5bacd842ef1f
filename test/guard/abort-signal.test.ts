import assert from 'node:assert/strict'
import { type EventEmitter, once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import { AdmissionSignal, onResponseEnd } from '../../lib/guard/abort-signal.ts'
import { type AuthContext, admittedContextOf } from '../../lib/guard/context.ts'
import { WATCH, type WatchRevocation } from '../../lib/identity/authentication/revocation-check.ts'
import tenantAuth, { type AuthOptions, signalOf } from '../../lib/index.ts'
import { clock } from '../../lib/platform/runtime/clock.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'
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

/** A deny list that shows the tokens that it watches, and by which the test revokes them. */
function watchedList() {
  const watched = new Set<() => void>()
  const tokens: (string | null)[] = []
  const watch: WatchRevocation = (token, revoked) => {
    watched.add(revoked)
    tokens.push(token.jti)
    return () => watched.delete(revoked)
  }
  return { isRevoked: Object.assign(() => false, { [WATCH]: watch }), watched, tokens }
}

test('an admission ends with its token and the tolerance, to the millisecond', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  ageByDate(t)
  const { signal } = new AdmissionSignal(await admitted(t, 30, { clockTolerance: 7 }))
  t.mock.timers.tick(36_999)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal.aborted, true)
  assert.equal(signal.reason.reason, 'expired')
})

test('an admission by an answer without exp ends with the answer, without a tolerance', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  ageByDate(t)
  const claims = { iss: authority.issuer, aud: authority.audience, sub: 'machine' }
  const options = { opaqueToken: async () => claims, opaqueMaxAge: 20, clockTolerance: 7 }
  const { signal } = new AdmissionSignal(await admitted(t, 30, options, 'key'))
  t.mock.timers.tick(19_999)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal.aborted, true)
})

test('whether the wall clock was set is looked at once a minute', async (t) => {
  const context = await admitted(t, 86_400)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  t.mock.method(clock, 'now', () => 0)
  const { signal } = new AdmissionSignal(context)
  const tomorrow = Date.now() + 90_000_000
  t.mock.method(Date, 'now', () => tomorrow)
  t.mock.timers.tick(59_999)
  assert.equal(signal.aborted, false)
  t.mock.timers.tick(1)
  assert.equal(signal.aborted, true)
})

test('a token is watched up to the end of its admission', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  ageByDate(t)
  const { isRevoked, watched, tokens } = watchedList()
  const context = await admitted(t, 30, { isRevoked })
  const ends = [
    new AdmissionSignal(context),
    new AdmissionSignal(context),
    new AdmissionSignal(context),
  ]
  assert.deepEqual(tokens, ['j', 'j', 'j'])
  const [revoke] = watched
  revoke?.()
  assert.equal(ends[0]?.signal.reason.reason, 'revoked')
  assert.equal(watched.size, 2)
  ends[1]?.stop()
  assert.equal(watched.size, 1)
  t.mock.timers.tick(60_000)
  assert.deepEqual(
    ends.map(({ signal }) => signal.aborted),
    [true, false, true],
  )
  assert.equal(watched.size, 0)
})

test('a token that has expired already is not watched', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_800_000_000_000 })
  const { isRevoked, watched } = watchedList()
  const context = await admitted(t, 30, { isRevoked })
  t.mock.timers.setTime(1_800_000_034_999)
  const last = new AdmissionSignal(context)
  assert.deepEqual([last.signal.aborted, watched.size], [false, 1])
  last.stop()
  t.mock.timers.setTime(1_800_000_035_000)
  assert.equal(new AdmissionSignal(context).signal.aborted, true)
  assert.equal(watched.size, 0)
})

test('a mock user has no token that could be watched', async (t) => {
  const { isRevoked, watched } = watchedList()
  const end = new AdmissionSignal(await admitted(t, 30, { devMode: true, isRevoked }))
  assert.deepEqual([end.signal.aborted, watched.size], [false, 0])
  end.stop()
})

/** Whether the signal of a request is aborted, and how often its listener hears so. */
async function seenOf(request: FastifyRequest): Promise<[isAborted: boolean, heard: number]> {
  const signal = signalOf(request)
  let heard = 0
  signal.addEventListener('abort', () => heard++)
  await new Promise(setImmediate)
  return [signal.aborted, heard]
}

test('a signal is live while a request goes on, and fires after an end that came before', async (t) => {
  const seen: Record<string, unknown> = {}
  const app = bareApp(t)
  app.addHook('onRequest', async (request) => {
    seen['not decided'] = await seenOf(request)
  })
  await app.register(tenantAuth, trusting())
  app.addHook('onError', async (request) => {
    seen['refused'] = await seenOf(request)
  })
  app.get('/x', async (request) => {
    seen['let through'] = await seenOf(request)
  })
  app.get('/open', { config: { noauth: true } }, async (request) => {
    seen['open'] = await seenOf(request)
  })
  for (const url of ['/x', '/open']) await app.inject({ url, headers: await as() })
  await app.inject('/x')
  assert.deepEqual(seen, {
    'not decided': [true, 1],
    refused: [true, 1],
    'let through': [false, 0],
    open: [false, 0],
  })
})

test('a request has one signal, which is let go when its response has ended', async (t) => {
  const isRevoked = denyList()
  const app = bareApp(t)
  await app.register(tenantAuth, trusting({ isRevoked }))
  const signals: AbortSignal[] = []
  const closed: Promise<unknown>[] = []
  app.get('/x', async (request, reply) => {
    signals.push(signalOf(request), signalOf(request))
    closed.push(once(reply.raw, 'close'))
    return 'x'
  })
  app.get('/revoked', async (request) => {
    const signal = signalOf(request)
    await isRevoked.add({ sub: 'test-user' })
    return { isSame: signal.reason === signalOf(request).reason, reason: signal.reason.reason }
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const headers = await as()
  await (await fetch(`${origin}/x`, { headers })).text()
  await Promise.all(closed)
  const answer = await fetch(`${origin}/revoked`, { headers })
  assert.deepEqual(await answer.json(), { isSame: true, reason: 'revoked' })
  const [first, second] = signals
  assert.equal(first === second, true, 'another signal for the same request')
  assert.equal(first?.aborted, false)
})

/** `once` would fail where the connection is reset. */
const closed = (connection: EventEmitter) => new Promise((end) => connection.once('close', end))

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

test('the end of a response is reported once', async (t) => {
  const { watch, reported, exchanges, socket } = await pipelined(1)
  t.after(() => socket.destroy())
  const listeners = exchanges[0]?.request.socket.listenerCount('close')
  const { request, response } = watch(0)
  assert.equal(request.socket.listenerCount('close'), listeners, 'none on its connection')
  await new Promise(setImmediate)
  assert.deepEqual(reported, [0])
  response.end('x')
  await closed(response)
  assert.deepEqual(reported, [1])
  request.socket.destroy()
  await closed(request.socket)
  assert.deepEqual(reported, [1])
})

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

test('a response that waits behind others has ended with its connection', async () => {
  const { watch, reported, exchanges, socket } = await pipelined(4)
  const connection = exchanges[0]?.request.socket
  assert.ok(connection, 'there is a connection')
  const listeners = connection.listenerCount('close')
  for (const index of [1, 2, 3]) watch(index)
  assert.equal(connection.listenerCount('close'), listeners + 1, 'one listener for all')
  socket.destroy()
  await closed(connection)
  assert.deepEqual(reported, [0, 1, 1, 1])
})

test('a response that has waited behind others ends by itself, and is reported once', async () => {
  const { watch, reported, exchanges, socket } = await pipelined(3)
  const { response } = watch(1)
  watch(2)
  exchanges[0]?.response.end('x')
  response.end('x')
  await closed(response)
  assert.deepEqual(reported, [0, 1, 0])
  const connection = exchanges[0]?.request.socket
  assert.ok(connection, 'there is a connection')
  socket.destroy()
  await closed(connection)
  assert.deepEqual(reported, [0, 1, 1])
})
