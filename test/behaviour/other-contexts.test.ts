import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'

// It is made before the package is loaded, which does not know it.
const madeBefore = Fastify()
const { default: tenantAuth, currentAuthorization, signalOf } = await import('../../lib/index.ts')
const { denyList } = await import('../../lib/entrypoints/revocation/index.ts')
const { authority, bareApp, guardedApp, trusting } = await import('../helpers/app/guarded-app.ts')
const { until } = await import('../helpers/processes/until.ts')

const ON = { asyncContext: true }
const ALICE = await authority.headers({ sub: 'alice' })
const BOB = await authority.headers({ sub: 'bob' })

/** Who the code runs for. */
const current = () => currentAuthorization()?.userInfo.sub ?? 'nobody'

/** The places that notes come from. */
const STEPS = ['onRequest', 'preValidation', 'preHandler', 'handler', 'onResponse']

interface Noted {
  readonly app: FastifyInstance
  readonly seen: Map<string, string>
  readonly pool: EventEmitter
}

/**
 * An application with a guard in one scope, and beside it a route and a not-found handler that no
 * guard covers. The last hook before each handler goes on when another request calls.
 */
async function noting(t: TestContext, made?: FastifyInstance): Promise<Noted> {
  const app = made ?? bareApp(t)
  t.after(() => app.close())
  const seen = new Map<string, string>()
  const pool = new EventEmitter()
  const note = (url: string, step: string) => void seen.set(`${url} ${step}`, current())
  const lose = (_request: unknown, _reply: unknown, done: () => void): void => {
    if (pool.listenerCount('waiting') === 0) done()
    else {
      pool.once('free', done)
      pool.emit('waiting')
    }
  }
  await app.register(async (scope) => {
    await scope.register(tenantAuth, trusting({ ...ON, uncovered: 'ignore' }))
    scope.get('/guarded', async () => current())
    scope.get('/free', async () => pool.emit('free'))
    scope.get('/around/*', async ({ params }) => {
      const url = `/${Object(params)['*']}`
      const { statusCode } = await app.inject(url)
      return { statusCode, after: current() }
    })
    scope.get('/call-not-found', { preHandler: lose }, (_request, reply) => reply.callNotFound())
  })
  app.addHook('onRequest', async ({ url }) => note(url, 'onRequest'))
  app.addHook('preValidation', async ({ url }) => note(url, 'preValidation'))
  app.addHook('preHandler', async ({ url }) => note(url, 'preHandler'))
  app.addHook('onResponse', async ({ url }) => note(url, 'onResponse'))
  app.get('/uncovered', { preHandler: lose }, async ({ url }) => note(url, 'handler'))
  app.setNotFoundHandler({ preHandler: lose }, async ({ url }, reply) => {
    note(url, 'handler')
    return reply.code(404).send('nothing here')
  })
  return { app, seen, pool }
}

const of = ({ seen }: Noted, url: string) =>
  Object.fromEntries(STEPS.map((step) => [step, seen.get(`${url} ${step}`)]))

const all = (who: string) => Object.fromEntries(STEPS.map((step) => [step, who]))

for (const made of ['after', 'before'] as const) {
  test(`what no guard covers runs for nobody, in an application made ${made} the import`, async (t) => {
    const noted = await noting(t, made === 'before' ? madeBefore : undefined)
    const { app, pool, seen } = noted
    // Within the request of a user.
    for (const url of ['/uncovered', '/nowhere']) {
      const around = await app.inject({ url: `/around${url}`, headers: BOB })
      assert.equal(around.json().after, 'bob')
      await until(() => seen.has(`${url} onResponse`))
      assert.deepEqual(of(noted, url), all('nobody'))
    }
    // The last hook goes on in the request of a user.
    for (const url of ['/uncovered', '/nowhere']) {
      seen.clear()
      const waiting = once(pool, 'waiting')
      const answer = app.inject(url)
      await waiting
      await app.inject({ url: '/free', headers: BOB })
      await answer
      await until(() => seen.has(`${url} onResponse`))
      assert.deepEqual(of(noted, url), all('nobody'))
    }
  })
}

test('the not-found handler that a handler calls runs for the user of its own request', async (t) => {
  const noted = await noting(t)
  const { app, pool, seen } = noted
  const waiting = once(pool, 'waiting')
  const answer = app.inject({ url: '/call-not-found', headers: ALICE })
  await waiting
  await app.inject({ url: '/free', headers: BOB })
  assert.equal((await answer).statusCode, 404)
  assert.equal(seen.get('/call-not-found handler'), 'alice')
})

test('the not-found handler of a guarded application runs for nobody, wherever the last hook goes on', async (t) => {
  const app = await guardedApp(t, ON)
  const pool = new EventEmitter()
  const seen: string[] = []
  app.get('/free', async () => pool.emit('free'))
  app.addHook('preHandler', ({ url }, _reply, done) => {
    if (url === '/nowhere') pool.once('free', done)
    else done()
  })
  app.setNotFoundHandler(async (_request, reply) => {
    seen.push(current())
    return reply.code(404).send('nothing here')
  })
  const answer = app.inject({ url: '/nowhere', headers: ALICE })
  await until(() => pool.listenerCount('free') === 1)
  await app.inject({ url: '/free', headers: BOB })
  await answer
  assert.deepEqual(seen, ['nobody'])
})

test('the end of an uncovered response on the connection of a user runs for nobody', async (t) => {
  const noted = await noting(t)
  const { app, seen } = noted
  await app.listen({ port: 0, host: '127.0.0.1' })
  const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.resume()
  const head = (url: string, headers: object) =>
    [`GET ${url} HTTP/1.1`, 'host: x', ...Object.entries(headers).map((each) => each.join(': '))]
      .join('\r\n')
      .concat('\r\n\r\n')
  socket.write(head('/guarded', ALICE) + head('/uncovered', {}) + head('/nowhere', {}))
  await until(() => seen.has('/nowhere onResponse') && seen.has('/uncovered onResponse'))
  socket.destroy()
  for (const url of ['/uncovered', '/nowhere']) assert.deepEqual(of(noted, url), all('nobody'))
})

test('an abort listener runs for the user of its request, whoever has ended it', async (t) => {
  for (const asyncContext of [true, false]) {
    const isRevoked = denyList()
    const app = await guardedApp(t, { asyncContext, isRevoked })
    const seen: string[] = []
    let waiting: FastifyRequest | undefined
    const noteAbort = (what: string) => () => seen.push(`${what} ${current()}`)
    app.get('/wait', async (request) => {
      const signal = signalOf(request)
      signal.addEventListener('abort', noteAbort('early'))
      waiting = request
      await once(signal, 'abort')
      return 'ended'
    })
    app.get('/end', async () => {
      await isRevoked.add({ sub: 'alice', issuer: authority.issuer })
      if (waiting) signalOf(waiting).addEventListener('abort', noteAbort('late'))
      return current()
    })
    const answer = app.inject({ url: '/wait', headers: ALICE })
    await until(() => waiting !== undefined)
    const ended = await app.inject({ url: '/end', headers: BOB })
    assert.equal(ended.body, asyncContext ? 'bob' : 'nobody')
    await answer
    const who = asyncContext ? 'alice' : 'nobody'
    assert.deepEqual(seen, [`early ${who}`, `late ${who}`])
  }
})
