import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  authorizationOf,
  currentAuthorization,
} from '../../lib/index.ts'
import { authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { until } from '../helpers/processes/until.ts'

const ON = { asyncContext: true }
const NOBODY = 'nobody'

/** Who the code runs for. */
const current = () => currentAuthorization()?.userInfo.sub ?? NOBODY

const ALICE = await authority.headers({ sub: 'alice', resources: { acme: [] } })
const BOB = await authority.headers({ sub: 'bob', resources: { acme: [] } })

/** A stream of three parts that name the user, each read when it is asked for. */
async function* parts() {
  for (let i = 0; i < 3; i++) {
    await setImmediate()
    yield `${current()},`
  }
}

/** Code below a handler, near and far. */
const BELOW: Record<string, () => unknown> = {
  'at once': current,
  'after an await': async () => setImmediate().then(current),
  'in a timer': () =>
    new Promise((resolve) => void globalThis.setTimeout(resolve, 1)).then(current),
  'in the callback of a timer': () =>
    new Promise((resolve) => void globalThis.setTimeout(() => resolve(current()), 1)),
  'in a tick': () => new Promise((resolve) => process.nextTick(() => resolve(current()))),
  'after reading a file': () => readFile('package.json').then(current),
  'in a generator': () =>
    [
      ...(function* () {
        yield current()
      })(),
    ][0],
  'in an async generator': async () => (await parts().next()).value?.replace(',', ''),
  'behind a pipeline': async () => {
    const seen: string[] = []
    const end = new PassThrough().on('data', () => seen.push(current()))
    await pipeline(Readable.from(parts()), end)
    return [...new Set(seen)].join()
  },
  'in a listener of its own emitter': async () => {
    const emitter = new EventEmitter()
    const heard = new Promise((resolve) => emitter.once('x', () => resolve(current())))
    emitter.emit('x')
    return heard
  },
}

test('the authorization is the one that the request has, whole', async (t) => {
  const app = await guardedApp(t, ON)
  app.get('/:tenant/x', async (request) => {
    assert.equal(currentAuthorization(), authorizationOf(request))
    return currentAuthorization()
  })
  const answer = await app.inject({ url: '/acme/x', headers: ALICE })
  assert.equal(answer.json().tenant, 'acme')
  assert.equal(current(), NOBODY)
})

test('an onRequest hook after the second guard of an application runs for its request', async (t) => {
  const app = bareApp(t)
  const seen: string[] = []
  for (const prefix of ['/one', '/other']) {
    await app.register(
      async (scope) => {
        await scope.register(tenantAuth, trusting(ON))
        scope.addHook('onRequest', async () => void seen.push(current()))
        scope.get('/:tenant/x', async () => 'x')
      },
      { prefix },
    )
  }
  for (const url of ['/one/acme/x', '/other/acme/x']) {
    for (const headers of [ALICE, BOB]) await app.inject({ url, headers })
  }
  assert.deepEqual(seen, ['alice', 'bob', 'alice', 'bob'])
})

for (const [where, code] of Object.entries(BELOW)) {
  for (const kind of ['at once', 'late']) {
    test(`code ${where} runs for its request, which is decided ${kind}`, async (t) => {
      const tenants = async () => kind === 'late' || true
      const app = await guardedApp(t, {
        ...ON,
        ...(kind === 'late' && { tenants, tenantsMaxAge: 0 }),
      })
      app.get('/:tenant/x', async () => ({ sub: await code() }))
      const users = [ALICE, BOB, ALICE, BOB]
      const answers = await Promise.all(
        users.map((headers) => app.inject({ url: '/acme/x', headers })),
      )
      const shown = answers.map((answer) => answer.json().sub)
      assert.deepEqual(shown, ['alice', 'bob', 'alice', 'bob'])
    })
  }
}

test('a timer that fires after the response still runs for its request', async (t) => {
  const app = await guardedApp(t, ON)
  const late: string[] = []
  app.get('/x', async () => {
    globalThis.setTimeout(() => late.push(current()), 20)
    return 'ok'
  })
  assert.equal((await app.inject({ url: '/x', headers: ALICE })).statusCode, 200)
  assert.deepEqual(late, [])
  await until(() => late.length > 0)
  assert.deepEqual(late, ['alice'])
})

test('a callback of a shared pool runs for who calls it, unless it is bound to its request', async (t) => {
  const app = await guardedApp(t, ON)
  const pool = new EventEmitter()
  const seen: string[] = []
  app.get('/wait', async () => {
    pool.once('free', () => seen.push(current()))
    pool.once(
      'free',
      AsyncResource.bind(() => seen.push(current())),
    )
    return 'ok'
  })
  app.get('/free', async () => pool.emit('free'))
  await app.inject({ url: '/wait', headers: ALICE })
  await app.inject({ url: '/free', headers: BOB })
  assert.deepEqual(seen, ['bob', 'alice'])
})

/** Where nobody is current. Each answers who is, as text. */
const OUTSIDE: [what: string, request: InjectOptions][] = [
  ['a route with noauth', { url: '/open' }],
  ['a route with noauth, asked with a token', { url: '/open', headers: ALICE }],
  ['a route with noauth and a body', { url: '/open', method: 'POST', payload: { a: 1 } }],
  ['the not-found handler', { url: '/nowhere', headers: ALICE }],
  ['the error handler of a request without a token', { url: '/x' }],
  ['the error handler of a foreign tenant', { url: '/zoo/x', headers: ALICE }],
  [
    'the error handler of a refused preflight',
    {
      url: '/x',
      method: 'OPTIONS',
      headers: { origin: 'https://a.test', 'access-control-request-method': 'GET' },
    },
  ],
]

async function withOutside(t: TestContext, options: AuthOptions = ON): Promise<FastifyInstance> {
  const app = await guardedApp(t, options)
  app.setErrorHandler((_error, _request, reply) => reply.code(200).send(current()))
  app.setNotFoundHandler((_request, reply) => reply.code(200).send(current()))
  app.get('/open', { config: { noauth: true } }, async () => current())
  app.post('/open', { config: { noauth: true } }, async () => current())
  app.get('/x', async () => setImmediate().then(current))
  app.post('/x', async () => setImmediate().then(current))
  app.get('/:tenant/x', async () => current())
  app.get('/fail', async () => Promise.reject(new Error('no soup')))
  return app
}

describe('nobody is current in', () => {
  for (const [what, request] of OUTSIDE) {
    test(what, async (t) => {
      const app = await withOutside(t)
      assert.equal((await app.inject(request)).body, NOBODY)
    })

    test(`${what}, within another user's request`, async (t) => {
      const app = await withOutside(t)
      app.get('/around', async () => {
        const { body } = await app.inject(request)
        return { body, after: current() }
      })
      const around = await app.inject({ url: '/around', headers: BOB })
      assert.deepEqual(around.json(), { body: NOBODY, after: 'bob' })
    })
  }

  test('any request, without the option', async (t) => {
    const app = await withOutside(t, {})
    const requests: InjectOptions[] = [{ url: '/x' }, { url: '/x', method: 'POST', payload: {} }]
    for (const request of requests) {
      assert.equal((await app.inject({ ...request, headers: ALICE })).body, NOBODY)
    }
  })
})

test('the error handler of a request that was let through runs for it', async (t) => {
  const app = await withOutside(t)
  assert.equal((await app.inject({ url: '/fail', headers: ALICE })).body, 'alice')
})

describe('a request within a request', () => {
  const REQUESTS: InjectOptions[] = [
    { url: '/x' },
    { url: '/x', method: 'POST', payload: { a: 1 } },
  ]
  const others: [what: string, options: AuthOptions, inner: string][] = [
    ['of the same application', ON, 'alice'],
    ['of another application', ON, 'alice'],
    ['of an application without the option', {}, NOBODY],
  ]
  for (const [what, options, inner] of others) {
    test(`${what} runs for its own user, and then the outer one is current again`, async (t) => {
      const outer = await withOutside(t)
      const other = what === 'of the same application' ? outer : await withOutside(t, options)
      outer.get('/around', async () => {
        const bodies: string[] = []
        for (const request of REQUESTS) {
          bodies.push((await other.inject({ ...request, headers: ALICE })).body, current())
        }
        return bodies
      })
      const around = await outer.inject({ url: '/around', headers: BOB })
      assert.deepEqual(around.json(), [inner, 'bob', inner, 'bob'])
    })
  }

  test('asks the functions of the application for nobody', async (t) => {
    const seen: Record<string, string> = {}
    const answer = <T>(option: string, value: T): T => {
      seen[option] = current()
      return value
    }
    const app = await guardedApp(t, {
      ...ON,
      tokenFrom: ({ headers }) => answer('tokenFrom', String(headers['x-token'])),
      isRevoked: () => answer('isRevoked', false),
      resourcesOf: () => answer('resourcesOf', { acme: [] }),
      resolveTenant: () => answer('resolveTenant', 'acme'),
      tenants: () => answer('tenants', true),
      tenantsMaxAge: 0,
      resourcesMaxAge: 0,
    })
    app.get('/x', { config: { tenant: true } }, async () => current())
    app.get('/around', async () => {
      for (const name of Object.keys(seen)) delete seen[name]
      const token = ALICE.authorization.replace('Bearer ', '')
      return app.inject({ url: '/x', headers: { 'x-token': token } }).then(({ body }) => body)
    })
    assert.equal((await app.inject({ url: '/around', headers: BOB })).body, 'alice')
    assert.deepEqual(seen, {
      tokenFrom: NOBODY,
      isRevoked: NOBODY,
      resourcesOf: NOBODY,
      resolveTenant: NOBODY,
      tenants: NOBODY,
    })
  })
})

declare module 'fastify' {
  interface FastifyInstance {
    /** Of `noting` below. */
    note(request: FastifyRequest, where: string): void
  }
}

const HOOKS = ['onRequest', 'preValidation', 'preHandler', 'onResponse'] as const
const PAYLOAD_HOOKS = ['preParsing', 'preSerialization', 'onSend'] as const

/** An application whose every hook, and its error handler, note who is current. */
async function noting(t: TestContext, options: AuthOptions = ON) {
  const app = await guardedApp(t, options)
  const seen: { url: string; where: string; who: string }[] = []
  const note = ({ url }: FastifyRequest, where: string) =>
    void seen.push({ url, where, who: current() })
  for (const hook of HOOKS) app.addHook(hook, async (request) => void note(request, hook))
  for (const hook of PAYLOAD_HOOKS) {
    app.addHook(
      hook,
      (
        request: FastifyRequest,
        _reply: unknown,
        payload: unknown,
        done: (error: null, payload?: unknown) => void,
      ) => {
        note(request, hook)
        done(null, payload)
      },
    )
  }
  app.addHook('onError', async (request) => void note(request, 'onError'))
  app.setErrorHandler((error, request, reply) => {
    note(request, 'errorHandler')
    return reply.send(error)
  })
  app.decorate('note', note)
  app.post('/x/:n', async (request) => {
    note(request, 'handler')
    return { ok: true }
  })
  app.get('/x/:n', async (request) => {
    await setTimeout(20)
    note(request, 'handler')
    return { ok: true }
  })
  const whoIn = (url: string) =>
    Object.fromEntries(
      seen.filter((each) => each.url === url).map(({ where, who }) => [where, who]),
    )
  const hasEnded = (url: string) =>
    seen.some((each) => each.url === url && each.where === 'onResponse')
  return { app, whoIn, hasEnded }
}

const ALL_WELL = [...HOOKS, ...PAYLOAD_HOOKS, 'handler']
const FAILED_BODY = ['onRequest', 'preParsing', 'onError', 'errorHandler', 'onSend', 'onResponse']

const runsFor = (who: string, places: readonly string[]) =>
  Object.fromEntries(places.map((place) => [place, who]))

/** The head of a request of this connection, as it is sent. */
function head(method: string, url: string, headers: object): string {
  const lines = Object.entries({ host: 'x', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return `${[`${method} ${url} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`
}

const bodyHeaders = (body: string) => ({
  'content-type': 'application/json',
  'content-length': body.length,
})

/** Sends texts on one connection, each after a while, and waits for the end of a request. */
async function send(app: FastifyInstance, texts: readonly string[], hasEnded: () => boolean) {
  const { port } = new URL(app.listeningOrigin)
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.resume()
  for (const text of texts) {
    socket.write(text)
    await setTimeout(30)
  }
  await until(hasEnded)
  socket.destroy()
}

/** The body comes when the guard has let the head through. */
const sendLate = (
  app: FastifyInstance,
  { url, headers, body }: { url: string; headers: object; body: string },
  hasEnded: (url: string) => boolean,
) => send(app, [head('POST', url, { ...headers, ...bodyHeaders(body) }), body], () => hasEnded(url))

describe('every hook', () => {
  test('of a request without a body runs for it', async (t) => {
    const { app, whoIn, hasEnded } = await noting(t)
    await app.inject({ url: '/x/1', headers: ALICE })
    await until(() => hasEnded('/x/1'))
    assert.deepEqual(whoIn('/x/1'), runsFor('alice', ALL_WELL))
  })

  for (const [what, body, places] of [
    ['body comes late', '{"a":1}', ALL_WELL],
    ['late body cannot be read', '{"a":', FAILED_BODY],
  ] as const) {
    test(`of a request whose ${what} runs for it`, async (t) => {
      const { app, whoIn, hasEnded } = await noting(t)
      await app.listen({ port: 0, host: '127.0.0.1' })
      await sendLate(app, { url: '/x/1', headers: ALICE, body }, hasEnded)
      assert.deepEqual(whoIn('/x/1'), runsFor('alice', places))
    })
  }

  test('of a server that was started by a request runs for its own request', async (t) => {
    const { app, whoIn, hasEnded } = await noting(t)
    const starter = await guardedApp(t, ON)
    starter.get('/start', async () => app.listen({ port: 0, host: '127.0.0.1' }))
    await starter.inject({ url: '/start', headers: BOB })
    for (const [url, headers, who, places] of [
      ['/x/1', ALICE, 'alice', ALL_WELL],
      ['/x/2', {}, NOBODY, ['onError', 'errorHandler', 'onSend', 'onResponse']],
    ] as const) {
      await sendLate(app, { url, headers, body: '{"a":1}' }, hasEnded)
      assert.deepEqual(whoIn(url), runsFor(who, places))
    }
  })

  test('of requests that wait for each other on one connection runs for its own request', async (t) => {
    const { app, whoIn, hasEnded } = await noting(t)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const body = '{"a":1}'
    const together = [
      head('GET', '/x/1', ALICE),
      head('GET', '/x/2', BOB),
      head('POST', '/x/3', { ...ALICE, ...bodyHeaders(body) }),
      body,
    ]
    await send(app, [together.join('')], () => hasEnded('/x/3'))
    for (const [url, who] of [
      ['/x/1', 'alice'],
      ['/x/2', 'bob'],
      ['/x/3', 'alice'],
    ] as const) {
      assert.deepEqual(whoIn(url), runsFor(who, ALL_WELL))
    }
  })
})

describe('what follows in another request', () => {
  /** An application in which a step of a request goes on when another request calls. */
  async function pooled(t: TestContext, step: string, options: AuthOptions, answer: unknown = {}) {
    const { app, whoIn, hasEnded } = await noting(t, options)
    const pool = new EventEmitter()
    const waits = (place: string, goOn: () => void) => {
      if (place === step) pool.once('free', goOn)
      else goOn()
    }
    await app.register(async (scope) => {
      const { note } = scope
      scope.addHook('onRequest', (_request, _reply, done) => waits('onRequest', done))
      scope.addHook('preValidation', (_request, _reply, done) => {
        waits('preValidation', done)
      })
      scope.addHook('preParsing', (_request, _reply, payload, done) => {
        waits('preParsing', () => done(null, payload))
      })
      scope.addHook('preHandler', (_request, _reply, done) => waits('preHandler', done))
      const preHandler = (_request: unknown, _reply: unknown, done: () => void) =>
        waits('preHandler of the route', done)
      scope.get('/wait', { preHandler }, (request, reply) => {
        note(request, 'handler')
        waits('handler', () => reply.send(answer))
      })
    })
    const other = await guardedApp(t, ON)
    other.get('/free', async () => pool.emit('free'))
    const response = app.inject({ url: '/wait', headers: ALICE })
    await until(() => pool.listenerCount('free') > 0)
    await other.inject({ url: '/free', headers: BOB })
    await response
    await until(() => hasEnded('/wait'))
    return whoIn('/wait')
  }

  const TEXT = ALL_WELL.filter((place) => place !== 'preSerialization')
  const FAILED = [...TEXT, 'onError', 'errorHandler']
  const steps: [what: string, step: string, places: readonly string[], answer: unknown][] = [
    ['onRequest', 'onRequest', ALL_WELL, {}],
    ['preParsing', 'preParsing', ALL_WELL, {}],
    ['preValidation', 'preValidation', ALL_WELL, {}],
    ['preHandler', 'preHandler', ALL_WELL, {}],
    ['preHandler of the route', 'preHandler of the route', ALL_WELL, {}],
    ['a handler that sends an object', 'handler', ALL_WELL, {}],
    ['a handler that sends a text', 'handler', TEXT, 'ok'],
    ['a handler that fails', 'handler', FAILED, new Error('no soup')],
  ]
  for (const [what, step, places, answer] of steps) {
    test(`after ${what} runs for its own request`, async (t) => {
      assert.deepEqual(await pooled(t, step, ON, answer), runsFor('alice', places))
    })
  }

  test('runs for nobody where the option is off', async (t) => {
    assert.deepEqual(await pooled(t, 'preValidation', {}), runsFor(NOBODY, ALL_WELL))
  })
})

test('a stream that is sent runs for its request, or for nobody, and never for another', async (t) => {
  const app = await guardedApp(t, ON)
  const CHUNKS = 200
  async function* slow() {
    for (let i = 0; i < CHUNKS; i++) yield `${current()} `.padEnd(16_384)
  }
  app.get('/x', async () => Readable.from(slow()))
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  await Promise.all(
    [ALICE, BOB, ALICE, BOB].map(async (headers, i) => {
      const response = await fetch(`${address}/x`, { headers })
      const names = new Set((await response.text()).split(/ +/).filter((name) => name !== ''))
      assert.equal(names.has(i % 2 === 0 ? 'bob' : 'alice'), false)
      assert.equal(names.has(i % 2 === 0 ? 'alice' : 'bob'), true)
    }),
  )
})

test('dev mode has the mock user', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, { devMode: true, ...ON })
  app.get('/x', async () => current())
  assert.equal((await app.inject('/x')).body, 'dev')
})
