import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as send } from 'node:http'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import websocket from '@fastify/websocket'
import Fastify, { type FastifyInstance } from 'fastify'

// It is made before the package is loaded, which does not know it.
const madeBefore = Fastify()
const { default: tenantAuth, authorizationOf } = await import('../../lib/index.ts')
const { denyList } = await import('../../lib/entrypoints/revocation/index.ts')
const { as, authority, bareApp, guardedApp, trusting, untyped } = await import(
  '../helpers/app/guarded-app.ts'
)
const { heard } = await import('../helpers/app/heard.ts')
const { greeting, refusal, socketTo } = await import('../helpers/app/sockets.ts')
const { ageByDate, holdTime } = await import('../helpers/processes/age-by-date.ts')
const { until } = await import('../helpers/processes/until.ts')
const { EntryLog } = await import('../helpers/servers/entry-log.ts')

type Options = Parameters<typeof trusting>[0]

/** An application of which one request is held open, and what its handlers did. */
interface Held {
  readonly app: FastifyInstance
  readonly handled: string[]
  /** Lets the hook go on that waits after the decision. */
  goOn(): void
}

async function held(t: TestContext, options: Options, given = bareApp(t)): Promise<Held> {
  const app = given
  const handled: string[] = []
  let goOn = (): void => {}
  const isFree = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const handler = async ({ url }: { readonly url: string }) => {
    handled.push(url)
    return 'handled'
  }
  app.get('/early', handler)
  app.post('/early', handler)
  await app.register(async (scope) => {
    scope.post('/early/scope', handler)
  })
  await app.register(tenantAuth, trusting(options))
  await app.register(websocket)
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => {
    text(payload).then((body) => done(null, body), done)
  })
  app.addHook('preValidation', async (request) => {
    if (request.headers['x-slow'] !== undefined) await isFree
  })
  app.route({ method: ['GET', 'POST', 'DELETE'], url: '/plain', handler })
  app.post('/:tenant/orders', { config: { tenant: 'required', require: 'order:read' } }, handler)
  app.post('/versioned', { constraints: { version: '1.0.0' } }, handler)
  app.post('/versioned', { constraints: { version: '2.0.0' } }, handler)
  await app.register(async (scope) => {
    scope.post('/scope', handler)
  })
  app.get('/socket', { websocket: true }, (socket) => {
    handled.push('/socket')
    socket.send('handled')
  })
  app.post('/open', { config: { noauth: true } }, handler)
  app.setNotFoundHandler(async (request, reply) => {
    handled.push(request.url)
    return reply.code(404).send('nothing here')
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, handled, goOn }
}

type Headers = Readonly<Record<string, string>>

/** A request that is held open. The function sends the rest, and gives status and error code. */
type Opened = () => Promise<string>

function opened(app: FastifyInstance, method: string, path: string, headers: Headers, rest = '') {
  const outgoing = send(app.listeningOrigin + path, { method, headers, agent: false })
  const answer = once(outgoing, 'response')
  if (rest === '') outgoing.end()
  else outgoing.write('{"a":')
  return async () => {
    if (rest !== '') outgoing.end(rest)
    const [response] = await answer
    const body = await text(response)
    const code = /"code":"(\w+)"/.exec(body)?.[1]
    return [response.statusCode, code].filter((each) => each !== undefined).join(' ')
  }
}

const half =
  (path: string, more: Headers = {}) =>
  ({ app }: Held, headers: Headers): Opened =>
    opened(app, 'POST', path, { 'content-type': 'application/json', ...headers, ...more }, '1}')

const slow =
  (method: string, path: string) =>
  ({ app, goOn }: Held, headers: Headers): Opened => {
    const rest = opened(app, method, path, { 'x-slow': 'yes', ...headers })
    return () => {
      goOn()
      return rest()
    }
  }

/** All ways by which a request waits between its decision and its handler. */
const WAYS: readonly [what: string, open: (held: Held, headers: Headers) => Opened][] = [
  ['half a body', half('/plain')],
  ['half a body of the own parser', half('/plain', { 'content-type': 'application/octet-stream' })],
  ['half a body for a tenant', half('/lazy-raccoon/orders')],
  ['half a body in a scope', half('/scope')],
  ['half a body of an early route', half('/early')],
  ['half a body of an early route in a scope', half('/early/scope')],
  ['half a body of one of two versions', half('/versioned', { 'accept-version': '2.x' })],
  ['a slow hook', slow('GET', '/plain')],
  ['a slow hook, with HEAD', slow('HEAD', '/plain')],
  ['a slow hook, with DELETE', slow('DELETE', '/plain')],
  ['a slow hook of an early route', slow('GET', '/early')],
  [
    'a slow hook before an upgrade',
    ({ app, goOn }, headers) => {
      const socket = socketTo(app, '/socket', { headers: { 'x-slow': 'yes', ...headers } })
      const answer = Promise.race([
        refusal(socket).then(async (response) => String(response.statusCode)),
        greeting(socket).then(() => '200'),
      ])
      return () => {
        goOn()
        return answer
      }
    },
  ],
]

/** How a token ends, and the answer to a request that has outlived it. */
const ENDS: readonly [
  how: string,
  options: () => Options,
  end: (t: TestContext, options: Options) => unknown,
  expected: string,
][] = [
  [
    'has expired',
    () => ({}),
    (t) => t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 306_000 }),
    '401 ERR_AUTH_TOKEN_INVALID',
  ],
  [
    'is within its tolerance',
    () => ({}),
    (t) => t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 302_000 }),
    '200',
  ],
  [
    'is revoked',
    () => ({ isRevoked: denyList() }),
    (_t, options) => listOf(options).add({ sub: 'test-user', issuer: authority.issuer }),
    '401 ERR_AUTH_TOKEN_INVALID',
  ],
  [
    'is not the one that is revoked',
    () => ({ isRevoked: denyList() }),
    (_t, options) => listOf(options).add({ sub: 'somebody', issuer: authority.issuer }),
    '200',
  ],
]

function listOf(options: Options): ReturnType<typeof denyList> {
  const isRevoked: unknown = options?.isRevoked
  assert.ok(typeof isRevoked === 'function' && 'add' in isRevoked, 'there is a deny list')
  return isRevoked as ReturnType<typeof denyList>
}

for (const [way, open] of WAYS) {
  for (const [how, optionsOf, end, expected] of ENDS) {
    const isRefused = expected !== '200'
    const effect = isRefused ? 'runs no handler' : 'runs its handler'
    test(`${way}, and then the token ${how}: the request ${effect}`, async (t) => {
      const emitted = heard(t, 'decision')
      const options = optionsOf()
      const one = await held(t, options)
      const rest = open(one, await as())
      await until(() => emitted.length === 1)
      await end(t, options)
      const answer = await rest()
      const isCoded = !(way.includes('HEAD') || way.includes('upgrade'))
      assert.equal(answer, isCoded ? expected : expected.slice(0, 3))
      assert.equal(one.handled.length, isRefused ? 0 : 1)
      assert.deepEqual(
        emitted.map(({ outcome, code, sub }) => [outcome, code, sub]),
        [
          ['admitted', null, 'test-user'],
          ...(isRefused ? [['refused', 'ERR_AUTH_TOKEN_INVALID', emitted[1]?.sub]] : []),
        ],
      )
    })
  }
}

for (const [seconds, end, expected] of [
  [29, 'no end', '200'],
  [31, 'no end', '401 ERR_AUTH_TOKEN_INVALID'],
  [29, 'an end', '200'],
  [31, 'an end', '401 ERR_AUTH_TOKEN_INVALID'],
  [29, 'a JWT', '200'],
  [31, 'a JWT', '401 ERR_AUTH_TOKEN_INVALID'],
] as const) {
  test(`an opaque token with ${end} that is good no more, and was asked for ${seconds} s ago, is ${expected}`, async (t) => {
    const emitted = heard(t, 'decision')
    const claims = { iss: authority.issuer, aud: authority.audience, sub: 'machine' }
    const exp = Math.floor(Date.now() / 1000) + 3600
    const token = await authority.token({ sub: 'machine' }, { expiresIn: 3600 })
    const answers = { 'no end': claims, 'an end': { ...claims, exp }, 'a JWT': token }
    let answer: (typeof answers)[typeof end] | null = answers[end]
    ageByDate(t)
    const one = await held(t, { opaqueMaxAge: 30, opaqueToken: async () => answer })
    const rest = half('/plain')(one, { authorization: 'Bearer key' })
    await until(() => emitted.length === 1)
    answer = null
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + seconds * 1000 })
    assert.equal(await rest(), expected)
  })
}

test('a deny list that has gone stale during a body refuses it with 503', async (t) => {
  const emitted = heard(t, 'decision')
  const log = new EntryLog()
  const isRevoked = denyList<number>({ changes: log.changes, append: log.append, maxStale: 60 })
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const one = await held(t, { isRevoked })
  await isRevoked.ready()
  const rest = half('/plain')(one, await as())
  await until(() => emitted.length === 1)
  log.onAnswer = () => Promise.reject(new Error('no soup'))
  t.mock.timers.tick(61_000)
  assert.equal(await rest(), '503 ERR_AUTH_REVOCATION_UNAVAILABLE')
  assert.deepEqual(one.handled, [])
})

test('an application that was made before the import looks again, too', async (t) => {
  const emitted = heard(t, 'decision')
  t.after(() => madeBefore.close())
  const isRevoked = denyList()
  const one = await held(t, { isRevoked }, madeBefore)
  const headers = await as()
  const waiting = ['/plain', '/early', '/early/scope', '/scope'].map((path) =>
    half(path)(one, headers),
  )
  await until(() => emitted.length === waiting.length)
  await isRevoked.add({ sub: 'test-user', issuer: authority.issuer })
  for (const rest of waiting) assert.equal(await rest(), '401 ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(one.handled, [])
})

test('what is not guarded, and the mock user, outlive every token', async (t) => {
  const isRevoked = denyList()
  for (const options of [{ isRevoked }, { devMode: true }]) {
    const app = bareApp(t)
    await app.register(tenantAuth, options.devMode ? options : trusting(options))
    let handled = 0
    app.post('/open', { config: { noauth: true } }, async () => handled++)
    if (options.devMode) app.post('/plain', async () => handled++)
    app.setNotFoundHandler(async () => handled++)
    await app.listen({ port: 0, host: '127.0.0.1' })
    const json = { 'content-type': 'application/json', ...(await as()) }
    const paths = ['/open', '/nowhere', ...(options.devMode ? ['/plain'] : [])]
    const waiting = paths.map((path) => opened(app, 'POST', path, json, '1}'))
    await isRevoked.add({ sub: 'test-user', issuer: authority.issuer })
    for (const rest of waiting) assert.equal(await rest(), '200')
    assert.equal(handled, paths.length)
  }
})

for (const [expected, stop] of [
  ['200', holdTime],
  ['401 ERR_AUTH_TOKEN_INVALID', holdTime],
  // The wall clock alone.
  ['401 ERR_AUTH_TOKEN_INVALID', (t, options) => t.mock.timers.enable(options)],
] satisfies [string, typeof holdTime][]) {
  test(`an opaque token without an end is asked about again during a body: ${expected}`, async (t) => {
    const emitted = heard(t, 'decision')
    stop(t, { apis: ['Date'], now: Date.now() })
    let isGood = true
    const opaqueToken = t.mock.fn(async () =>
      isGood ? { sub: 'machine', iss: authority.issuer, aud: authority.audience } : null,
    )
    const one = await held(t, { opaqueToken })
    const rest = half('/plain')(one, { authorization: 'Bearer key-1' })
    await until(() => emitted.length === 1)
    isGood = expected === '200'
    t.mock.timers.tick(60_000)
    assert.equal(await rest(), expected)
    assert.deepEqual([opaqueToken.mock.callCount(), one.handled.length], [2, isGood ? 1 : 0])
  })
}

for (const [what, first, then, events] of [
  ['another user', { sub: 'alice' }, { sub: 'bob' }, ['alice', 'bob']],
  ['used by an actor', { sub: 'alice' }, { sub: 'alice', act: { sub: 'eve' } }, ['alice', 'eve']],
  ['the same user', { sub: 'alice' }, { sub: 'alice' }, ['alice']],
] as const) {
  test(`a key that is ${what} by the end of a body is reported with ${events.join(' and ')}`, async (t) => {
    const emitted = heard(t, 'decision')
    holdTime(t, { apis: ['Date'], now: Date.now() })
    let claims: object = first
    const opaqueToken = () => ({ ...claims, iss: authority.issuer, aud: authority.audience })
    const one = await held(t, untyped({ opaqueToken }))
    const rest = half('/plain')(one, { authorization: 'Bearer key-1' })
    await until(() => emitted.length === 1)
    claims = then
    t.mock.timers.tick(60_000)
    assert.equal(await rest(), '200')
    const seen = emitted.map(({ outcome, sub, actor }) => [outcome, actor?.sub ?? sub])
    assert.deepEqual(
      seen,
      events.map((who) => ['admitted', who]),
    )
  })
}

test('a function that is no deny list of ours is asked once for a request', async (t) => {
  const emitted = heard(t, 'decision')
  const list = denyList()
  let asked = 0
  const isRevoked: NonNullable<Options>['isRevoked'] = (...of) => {
    asked++
    return list(...of)
  }
  const one = await held(t, { isRevoked })
  const rest = half('/plain')(one, await as())
  await until(() => emitted.length === 1)
  assert.equal(await rest(), '200')
  assert.equal(asked, 1)
})

test('the refused request has no user any more, and its refusal is the one that is answered', async (t) => {
  const emitted = heard(t, 'decision')
  const isRevoked = denyList()
  const one = await guardedApp(t, { isRevoked })
  const users: unknown[] = []
  one.addHook('onSend', async (request) => void users.push(authorizationOf(request)))
  one.post('/plain', async () => 'handled')
  await one.listen({ port: 0, host: '127.0.0.1' })
  const json = { 'content-type': 'application/json', ...(await as()) }
  const rest = opened(one, 'POST', '/plain', json, '1}')
  await until(() => emitted.length === 1)
  await isRevoked.add({ sub: 'test-user', issuer: authority.issuer })
  assert.equal(await rest(), '401 ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(users, [null])
  assert.deepEqual(one.authService.stats().decisions, {
    admitted: 1,
    refused: { ERR_AUTH_TOKEN_INVALID: 1 },
  })
})
