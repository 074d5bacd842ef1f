import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import http2 from 'node:http2'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import websocket from '@fastify/websocket'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { type DenyList, denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions, errors, signalOf } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { socketTo } from '../helpers/app/sockets.ts'
import { until } from '../helpers/processes/until.ts'
import { EntryLog } from '../helpers/servers/entry-log.ts'

const YEAR = 365 * 86_400

/** An application whose handlers hand out the signals of their requests. */
async function listening(
  t: TestContext,
  options: AuthOptions,
  beforeHandler: () => Promise<void> | void = () => {},
): Promise<{
  app: FastifyInstance
  signals: AbortSignal[]
  closed: () => Promise<void>
  goOn: () => void
}> {
  const signals: AbortSignal[] = []
  const closings: Promise<void>[] = []
  const app = await guardedApp(t, options)
  app.addHook('onRequest', async (_request, reply) => {
    closings.push(new Promise((resolve) => reply.raw.once('close', resolve)))
  })
  await app.register(websocket)
  app.addHook('preHandler', async () => beforeHandler())
  app.get('/stream', async (request, reply) => {
    const signal = signalOf(request)
    signals.push(signal)
    return reply.send(endless(signal))
  })
  app.get('/events', (request, reply) => {
    const signal = signalOf(request)
    signals.push(signal)
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
    reply.raw.write('data: hello\n\n')
    signal.addEventListener('abort', () => reply.raw.end())
  })
  app.get('/socket', { websocket: true }, (socket, request) => {
    const signal = signalOf(request)
    signals.push(signal)
    signal.addEventListener('abort', () => socket.close(4401))
    socket.send('hello')
  })
  let goOn = (): void => {}
  const isFree = new Promise<void>((resolve) => {
    goOn = resolve
  })
  app.get('/slow', async (request) => {
    signals.push(signalOf(request))
    await isFree
    return 'ok'
  })
  app.get('/plain', async (request) => {
    signals.push(signalOf(request))
    return 'ok'
  })
  await app.listen()
  const closed = async () => void (await Promise.all(closings))
  return { app, signals, closed, goOn: () => goOn() }
}

function endless(signal: AbortSignal): Readable {
  const stream = new Readable({ read() {}, signal })
  stream.push('hello')
  return stream
}

/** Opens a response that goes on. Resolves when it has begun; `ended` when it is over. */
async function opened(app: FastifyInstance, path: string, headers: Record<string, string>) {
  const sent = request(app.listeningOrigin + path, { headers })
  sent.end()
  const [response] = await once(sent, 'response')
  assert.equal(response.statusCode, 200)
  await once(response, 'data')
  // A stream that is broken off is an error here.
  response.on('error', () => {})
  response.resume()
  const ended = new Promise((resolve) => response.on('close', resolve))
  return { ended, end: () => sent.destroy() }
}

async function openedSocket(app: FastifyInstance, headers: Record<string, string>) {
  const socket = socketTo(app, '/socket', { headers })
  await once(socket, 'message')
  return { ended: once(socket, 'close'), end: () => socket.terminate() }
}

const WAYS = [
  [
    'a stream',
    (app: FastifyInstance, headers: Record<string, string>) => opened(app, '/stream', headers),
  ],
  [
    'Server-Sent Events',
    (app: FastifyInstance, headers: Record<string, string>) => opened(app, '/events', headers),
  ],
  ['a WebSocket', openedSocket],
] as const

for (const [what, open] of WAYS) {
  test(`${what} ends when its token is revoked, and no other one does`, async (t) => {
    const isRevoked = denyList()
    const { app, signals } = await listening(t, { isRevoked })
    const alice = await open(app, await authority.headers({ sub: 'alice' }))
    const bob = await open(app, await authority.headers({ sub: 'bob' }))
    await isRevoked.add({ sub: 'alice' })
    await alice.ended
    const found = signals.map(({ aborted }) => aborted)
    assert.deepEqual(found, [true, false])
    bob.end()
  })

  test(`${what} ends when its token has expired, and the tolerance is over`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
    const { app, signals } = await listening(t, {})
    const one = await open(app, await authority.headers({ sub: 'alice' }))
    t.mock.timers.tick(304_000)
    assert.equal(signals[0]?.aborted, false)
    t.mock.timers.tick(2000)
    await one.ended
    assert.equal(signals[0]?.aborted, true)
  })

  test(`${what} that has ended waits for nothing any more`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
    const isRevoked = denyList()
    const { app, signals, closed } = await listening(t, { isRevoked })
    const one = await open(app, await authority.headers({ sub: 'alice' }))
    one.end()
    await closed()
    t.mock.timers.tick(400_000)
    await isRevoked.add({ sub: 'alice' })
    assert.equal(signals[0]?.aborted, false)
  })
}

/** Asks for the signals of one request of alice, in the handler. */
async function signalsOf(
  t: TestContext,
  options: AuthOptions,
  read: (request: FastifyRequest) => AbortSignal | Promise<AbortSignal> = signalOf,
  claims: Record<string, unknown> = {},
): Promise<AbortSignal> {
  const app = await guardedApp(t, options)
  let signal: AbortSignal | undefined
  app.get('/', async (request) => {
    signal = await read(request)
    return 'ok'
  })
  await app.inject({ url: '/', headers: await authority.headers({ sub: 'alice', ...claims }) })
  assert.ok(signal, 'the handler ran')
  return signal
}

test('a request has one signal, and another request has another', async (t) => {
  const { app, signals } = await listening(t, {})
  for (let n = 0; n < 2; n++) await app.inject({ url: '/plain', headers: await as() })
  assert.notEqual(signals[0], signals[1])
  await signalsOf(t, {}, (request) => {
    assert.equal(signalOf(request), signalOf(request))
    return signalOf(request)
  })
})

test('the reason is the error that a new request would get', async (t) => {
  const isRevoked = denyList()
  const signal = await signalsOf(t, { isRevoked }, async (request) => {
    const signal = signalOf(request)
    await isRevoked.add({ sub: 'alice' })
    return signal
  })
  assert.ok(signal.reason instanceof errors.ERR_AUTH_TOKEN_INVALID, 'an error of ours')
  assert.equal(signal.reason.statusCode, 401)
  assert.equal(signal.reason.reason, 'revoked')
})

test('what a handler throws of it is answered as a refusal', async (t) => {
  const isRevoked = denyList()
  const app = await guardedApp(t, { isRevoked })
  app.get('/', async (request) => {
    const signal = signalOf(request)
    await isRevoked.add({ sub: 'alice' })
    signal.throwIfAborted()
    return 'ok'
  })
  const response = await app.inject({
    url: '/',
    headers: await authority.headers({ sub: 'alice' }),
  })
  assert.equal(response.statusCode, 401)
  assert.match(String(response.headers['www-authenticate']), /error="invalid_token"/)
})

const ASKED_LATE: [string, (list: DenyList, t: TestContext) => Promise<void> | void][] = [
  ['revoked', (list) => list.add({ sub: 'alice' })],
  ['expired', (_list, t) => t.mock.timers.setTime(Date.now() + 310_000)],
]

for (const [what, happen] of ASKED_LATE) {
  test(`a signal is aborted that is asked for when the token is ${what} already`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const isRevoked = denyList()
    const signal = await signalsOf(t, { isRevoked }, async (request) => {
      await happen(isRevoked, t)
      return signalOf(request)
    })
    assert.equal(signal.aborted, true)
    assert.equal(signal.reason.reason, what)
  })
}

test('a listener of the end is called once, and so is one that is added later', async (t) => {
  const called: string[] = []
  const isRevoked = denyList()
  await signalsOf(t, { isRevoked }, async (request) => {
    const first = signalOf(request)
    first.addEventListener('abort', () => called.push('first'))
    await isRevoked.add({ sub: 'alice' })
    for (const who of ['second', 'third']) {
      const signal = signalOf(request)
      assert.equal(signal.aborted, true)
      assert.equal(signal.reason, first.reason)
      signal.addEventListener('abort', () => called.push(who))
    }
    signalOf(request)
    await new Promise(setImmediate)
    return first
  })
  assert.deepEqual(called, ['first', 'second', 'third'])
})

test('a signal that is asked for after the response waits for nothing', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  const isRevoked = denyList()
  const app = await guardedApp(t, { isRevoked })
  let asked: FastifyRequest | undefined
  app.get('/', async (request) => {
    asked = request
    return 'ok'
  })
  await app.inject({ url: '/', headers: await as() })
  assert.ok(asked, 'the handler ran')
  const signal = signalOf(asked)
  t.mock.timers.tick(400_000)
  await isRevoked.add({ sub: 'test-user' })
  assert.equal(signal.aborted, false)
})

test('a life beyond 2^31 milliseconds neither ends at once nor lasts for ever', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  const { app, signals } = await listening(t, {})
  const headers = await authority.headers({}, { expiresIn: YEAR })
  const one = await opened(app, '/events', headers)
  t.mock.timers.tick(1000)
  assert.equal(signals[0]?.aborted, false)
  t.mock.timers.setTime(Date.now() + YEAR * 1000 + 6000)
  t.mock.timers.tick(60_000)
  await one.ended
  assert.equal(signals[0]?.aborted, true)
})

test('a clock that is set forward ends a signal within a minute', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { app, signals } = await listening(t, {})
  const one = await opened(app, '/events', await authority.headers({}, { expiresIn: 86_400 }))
  const later = Date.now() + 90_000_000
  t.mock.method(Date, 'now', () => later)
  t.mock.timers.tick(60_000)
  await one.ended
  assert.equal(signals[0]?.aborted, true)
})

const SLOW_ENDS: [string, (list: DenyList, t: TestContext) => Promise<void> | void][] = [
  ['is revoked', (list) => list.add({ sub: 'alice' })],
  ['expires', (_list, t) => t.mock.timers.setTime(Date.now() + 310_000)],
]

for (const [what, happen] of SLOW_ENDS) {
  test(`a socket is ended whose token ${what} before its handler runs`, async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const isRevoked = denyList()
    const { app } = await listening(t, { isRevoked }, () => happen(isRevoked, t))
    const socket = socketTo(app, '/socket', { headers: await authority.headers({ sub: 'alice' }) })
    const [code] = await once(socket, 'close')
    assert.equal(code, 4401)
  })
}

test('requests that wait behind another are let go when their connection ends', async (t) => {
  const warnings: Error[] = []
  const warn = (warning: Error) => warnings.push(warning)
  process.on('warning', warn)
  t.after(() => process.off('warning', warn))
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  const { app, signals } = await listening(t, {})
  const { authorization } = await authority.headers({ sub: 'alice' })
  const { port } = new URL(app.listeningOrigin)
  const socket = connect(Number(port), '127.0.0.1')
  const ask = `GET /events HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`
  socket.write(ask.repeat(20))
  await until(() => signals.length === 20)
  const closed = once(socket, 'close')
  const connections = () =>
    new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)))
  socket.destroy()
  await closed
  while ((await connections()) > 0) await new Promise(setImmediate)
  t.mock.timers.tick(400_000)
  const found = signals.filter(({ aborted }) => aborted)
  assert.deepEqual(found, [])
  assert.deepEqual(warnings, [])
})

test('a request that has waited behind another is let go when its own response ends', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  const isRevoked = denyList()
  const { app, signals, closed, goOn } = await listening(t, { isRevoked })
  const { authorization } = await authority.headers({ sub: 'alice' })
  const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
  const ask = (path: string) =>
    `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`
  socket.resume().write(ask('/slow') + ask('/plain'))
  await until(() => signals.length === 2)
  goOn()
  await closed()
  t.mock.timers.tick(400_000)
  await isRevoked.add({ sub: 'alice' })
  const found = signals.map(({ aborted }) => aborted)
  assert.deepEqual(found, [false, false])
  socket.destroy()
})

test('fifty sockets of one user end together, without a warning of too many listeners', async (t) => {
  const warnings: Error[] = []
  const warn = (warning: Error) => warnings.push(warning)
  process.on('warning', warn)
  t.after(() => process.off('warning', warn))
  const isRevoked = denyList()
  const { app } = await listening(t, { isRevoked })
  const headers = await authority.headers({ sub: 'alice' })
  const sockets = await Promise.all(Array.from({ length: 50 }, () => openedSocket(app, headers)))
  await isRevoked.add({ sub: 'alice' })
  await Promise.all(sockets.map(({ ended }) => ended))
  assert.deepEqual(warnings, [])
})

test('a request that does not ask for its signal has no timer and no listener of it', async (t) => {
  const counted: number[][] = []
  const { mock: setTimer } = t.mock.method(globalThis, 'setTimeout')
  const app = await guardedApp(t, { isRevoked: denyList() })
  const count = (request: FastifyRequest, raw: NodeJS.EventEmitter) => [
    setTimer.callCount(),
    raw.listenerCount('close'),
    request.raw.listenerCount('close'),
    request.raw.socket.listenerCount('close'),
  ]
  app.get('/guarded', async (request, reply) => {
    counted.push(count(request, reply.raw))
    return 'ok'
  })
  app.get('/open', { config: { noauth: true } }, async (request, reply) => {
    counted.push(count(request, reply.raw))
    return 'ok'
  })
  const headers = await as()
  await app.ready()
  for (const url of ['/open', '/guarded']) {
    setTimer.resetCalls()
    await app.inject({ url, headers })
  }
  assert.deepEqual(counted[0], counted[1])
})

test('an entry that another process has added ends a signal at the next pull', async (t) => {
  const log = new EntryLog()
  const isRevoked = denyList({ changes: log.changes })
  const { app, signals } = await listening(t, { isRevoked })
  await until(() => app.authService.isReady())
  const one = await opened(app, '/events', await authority.headers({ sub: 'alice' }))
  await log.append({ sub: 'alice', until: new Date(Date.now() + 60_000) })
  isRevoked.wake()
  await one.ended
  assert.equal(signals[0]?.aborted, true)
})

test('an entry that finds no room ends the signals that it fits all the same', async (t) => {
  const isRevoked = denyList({ maxEntries: 1 })
  const signal = await signalsOf(t, { isRevoked }, async (request) => {
    const signal = signalOf(request)
    await isRevoked.add({ sub: 'bob' })
    await isRevoked.add({ sub: 'alice' })
    return signal
  })
  assert.equal(isRevoked.size(), 1)
  assert.equal(signal.aborted, true)
  assert.ok(signal.reason instanceof errors.ERR_AUTH_REVOCATION_UNAVAILABLE, `${signal.reason}`)
})

for (const sub of ['alice', 'carol']) {
  const ends = sub === 'alice'
  test(`a signal that is asked for after an entry of ${sub} has found no room ${ends ? 'is aborted' : 'goes on'}`, async (t) => {
    const isRevoked = denyList({ maxEntries: 1 })
    const signal = await signalsOf(t, { isRevoked }, async (request) => {
      await isRevoked.add({ sub: 'bob' })
      await isRevoked.add({ sub })
      return signalOf(request)
    })
    const { ERR_AUTH_REVOCATION_UNAVAILABLE } = errors
    assert.equal(signal.aborted, ends)
    assert.equal(signal.reason instanceof ERR_AUTH_REVOCATION_UNAVAILABLE, ends)
  })
}

test('a signal that is asked for while an entry ends another one is aborted', async (t) => {
  const isRevoked = denyList()
  const app = await guardedApp(t, { isRevoked })
  const headers = await as({}, { sub: 'alice' })
  let second: FastifyRequest | undefined
  let later: AbortSignal | undefined
  app.get('/first', async (request) => {
    const signal = signalOf(request)
    signal.addEventListener('abort', () => {
      later = second && signalOf(second)
    })
    await app.inject({ url: '/second', headers })
    return signal.aborted
  })
  app.get('/second', async (request) => {
    second = request
    await isRevoked.add({ sub: 'alice' })
    return 'ok'
  })
  assert.equal((await app.inject({ url: '/first', headers })).json(), true)
  assert.equal(later?.aborted, true)
})

test('a function that asks the list by itself ends no signal: it can only be asked', async (t) => {
  const list = denyList()
  const isRevoked: AuthOptions['isRevoked'] = (user, token) => list(user, token)
  const signal = await signalsOf(t, { isRevoked }, async (request) => {
    const signal = signalOf(request)
    await list.add({ sub: 'alice' })
    return signal
  })
  assert.equal(signal.aborted, false)
})

const FITTING: [string, object, boolean][] = [
  ['jti', { jti: 'j' }, true],
  ['sid', { sid: 's' }, true],
  ['sub', { sub: 'alice' }, true],
  ['issuer', { issuer: authority.issuer }, true],
  ['sub of an issuer', { sub: 'alice', issuer: authority.issuer }, true],
  ['sub of no issuer', { sub: 'alice', issuer: null }, false],
  ['jti with another sid', { jti: 'j', sid: 'other' }, false],
  ['issuedBefore after iat', { sub: 'alice', issuedBefore: new Date(Date.now() + 60_000) }, true],
  ['issuedBefore before iat', { sub: 'alice', issuedBefore: new Date(0) }, false],
]

for (const [what, entry, fits] of FITTING) {
  test(`an entry by ${what} ${fits ? 'ends' : 'leaves'} a signal`, async (t) => {
    const isRevoked = denyList()
    const read = async (request: FastifyRequest) => {
      const signal = signalOf(request)
      await isRevoked.add(entry)
      return signal
    }
    const signal = await signalsOf(t, { isRevoked }, read, { jti: 'j', sid: 's' })
    assert.equal(signal.aborted, fits)
  })
}

test('without a guard a signal is never aborted; where it refuses, or did not decide yet, it is', async (t) => {
  const app = bareApp(t)
  const seen: [string, boolean][] = []
  app.addHook('onRequest', async (request) => {
    seen.push(['before the guard', signalOf(request).aborted])
  })
  await app.register(tenantAuth, trusting())
  app.addHook('onResponse', async (request) => {
    seen.push(['response', signalOf(request).aborted])
  })
  app.get('/open', { config: { noauth: true } }, async (request) => {
    seen.push(['handler', signalOf(request).aborted])
  })
  app.get('/closed', async () => {})
  await app.inject('/open')
  await app.inject('/closed')
  assert.deepEqual(seen, [
    ['before the guard', true],
    ['handler', false],
    ['response', false],
    ['before the guard', true],
    ['response', true],
  ])
})

test('in dev mode a signal is not aborted: the mock user has no token', async (t) => {
  const signal = await signalsOf(t, { devMode: true, isRevoked: denyList() })
  assert.equal(signal.aborted, false)
})

test('a stream of HTTP/2 is let go when it closes, not when its session does', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  const app = Fastify({ http2: true })
  t.after(() => app.close())
  await app.register(tenantAuth, trusting())
  let signal: AbortSignal | undefined
  app.get('/', async (request) => {
    signal = signalOf(request)
    return 'ok'
  })
  await app.listen()
  const client = http2.connect(app.listeningOrigin)
  const stream = client.request({ ':path': '/', ...(await as()) })
  stream.resume()
  await once(stream, 'close')
  client.close()
  t.mock.timers.tick(400_000)
  assert.equal(signal?.aborted, false)
})
