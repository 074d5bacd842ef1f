import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest, InjectOptions } from 'fastify'
import { type AuthContext, authContextOf, setAuthContext } from '../../lib/guard/context.ts'
import tenantAuth, { authorizationOf, errors } from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

const userOf = (request: FastifyRequest) => authorizationOf(request)?.userInfo.sub ?? 'nobody'
const refuse = (context: AuthContext) =>
  Object.assign(context, { membership: null, error: new errors.ERR_AUTH_TENANT_FORBIDDEN() })

/** Decisions that stand where the last gate meets a user's request, and its outcome. */
const AT_THE_GATE: readonly [
  what: string,
  make: (context: AuthContext) => AuthContext | undefined,
  outcome: string,
][] = [
  ['no decision', () => undefined, '200 test-user'],
  ['a refusal', refuse, '200 test-user'],
]

for (const [what, make, expected] of AT_THE_GATE) {
  test(`where the last gate meets ${what}, a user gets ${expected}`, async (t) => {
    const app = await guardedApp(t)
    app.addHook('preValidation', async (request) => {
      const context = authContextOf(request)
      if (context) setAuthContext(request, make(context))
    })
    const seen: string[] = []
    app.get('/x', async (request) => void seen.push(userOf(request)))
    const { statusCode } = await app.inject({ url: '/x', headers: await as() })
    assert.equal(`${statusCode} ${seen.join() || 'nobody'}`, expected)
  })
}

test('a preflight that no plugin can answer is refused before later hooks', async (t) => {
  const app = await guardedApp(t)
  let later = 0
  app.addHook('onRequest', async () => void later++)
  app.options('/x', async () => 'never')
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/x',
    headers: { origin: 'https://app.test', 'access-control-request-method': 'POST' },
  })
  assertRefused(preflight, 'ERR_AUTH_TOKEN_MISSING')
  assert.equal(later, 0)
})

test('a request is asked about once, also where two routes share its place', async (t) => {
  let asked = 0
  const isRevoked = () => {
    asked++
    return false
  }
  const app = await guardedApp(t, { isRevoked })
  app.get('/x', async (request) => userOf(request))
  app.get('/x', { constraints: { version: '2.0.0' } }, async (request) => userOf(request))
  for (const version of [{}, { 'accept-version': '2.x' }]) {
    asked = 0
    const response = await app.inject({ url: '/x', headers: { ...(await as()), ...version } })
    assert.deepEqual([response.body, asked], ['test-user', 1])
  }
})

/** Requests that the application itself would refuse, and the status of that refusal. */
const BAD_REQUESTS: readonly [what: string, request: InjectOptions, own: string][] = [
  [
    'a body that is no JSON',
    { payload: '{', headers: { 'content-type': 'application/json' } },
    '400',
  ],
  ['a body that the schema refuses', { payload: { count: 'many' } }, '400 FST_ERR_VALIDATION'],
  [
    'a query that the schema refuses',
    { payload: { count: 1 }, query: { page: 'x' } },
    '400 FST_ERR_VALIDATION',
  ],
  ['a body that is too large', { payload: { count: '9'.repeat(99) } }, '413'],
  [
    'a content type without a parser',
    { payload: 'x', headers: { 'content-type': 'text/strange' } },
    '415',
  ],
]

for (const [what, request, own] of BAD_REQUESTS) {
  test(`a stranger with ${what} is refused as a stranger, and nothing is parsed`, async (t) => {
    const app = await guardedApp(t, {}, { bodyLimit: 64 })
    let parsings = 0
    app.addHook('preParsing', async () => void parsings++)
    const schema = {
      body: { type: 'object', properties: { count: { type: 'integer' } } },
      querystring: { type: 'object', properties: { page: { type: 'integer' } } },
    }
    app.post('/x', { schema }, async () => 'never')
    const post = { ...request, method: 'POST', url: '/x' } as const
    assertRefused(await app.inject(post), 'ERR_AUTH_TOKEN_MISSING')
    assert.equal(parsings, 0)
    const headers = { ...request.headers, ...(await as()) }
    const response = await app.inject({ ...post, headers })
    assert.equal(outcome(response).startsWith(own), true, outcome(response))
    assert.equal(parsings, 1)
  })
}

/** Configs of a 404 handler. They are not a route's declaration. */
for (const config of [{ noauth: true }, { noauth: false }, { require: 'a:b' }, { tenant: 'x' }]) {
  test(`a 404 handler with config ${JSON.stringify(config)} stays 404 and opens nothing`, async (t) => {
    const app = await guardedApp(t)
    app.get('/in/x', async () => 'never')
    const options = { preHandler: async () => {}, config }
    app.setNotFoundHandler(options, async (request, reply) => {
      return reply.code(404).send({ acts: authorizationOf(request) !== null })
    })
    await app.register(
      async (child) => {
        child.setNotFoundHandler(options, async (_request, reply) => reply.code(404).send({}))
      },
      { prefix: '/in' },
    )
    const response = await app.inject({ url: '/y', headers: await as() })
    assert.deepEqual([response.statusCode, response.json()], [404, { acts: false }])
    assert.equal((await app.inject('/in/y')).statusCode, 404)
    assertRefused(await app.inject('/in/x'), 'ERR_AUTH_TOKEN_MISSING')
  })
}

test('an earlier hook may answer 404 itself, and the last gate leaves that answer alone', async (t) => {
  const app = bareApp(t)
  app.addHook('onRequest', async (request, reply) => {
    if (request.headers['x-hide'] !== undefined) reply.callNotFound()
  })
  await app.register(tenantAuth, trusting())
  app.get('/x', async () => 'never')
  const response = await app.inject({ url: '/x', headers: { 'x-hide': 'yes' } })
  assert.equal(response.statusCode, 404)
  assertRefused(await app.inject('/x'), 'ERR_AUTH_TOKEN_MISSING')
})

test('a handler that calls the 404 handler answers 404', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', (_request, reply) => void reply.callNotFound())
  assert.equal((await app.inject({ url: '/x', headers: await as() })).statusCode, 404)
})

test('an error inside the guard opens nothing, and the answer is not 500', async (t) => {
  const { logger, lines } = logLines()
  const querystringParser = () => ({
    get tenant(): never {
      throw new Error('a parser of the application that breaks')
    },
  })
  const app = await guardedApp(t, {}, { logger, routerOptions: { querystringParser } })
  app.get('/x', { config: { tenant: true } }, async () => 'never')
  const events = heard(t, 'decision')
  const response = await app.inject({ url: '/x?tenant=a', headers: await as() })
  assertRefused(response, 'ERR_AUTH_TOKEN_INVALID')
  assert.equal(events[0]?.tenant, null, 'nobody can tell which one was asked for')
  assert.deepEqual(
    lines('request refused').map(({ level, code, reason }) => ({ level, code, reason })),
    [{ level: 30, code: 'ERR_AUTH_TOKEN_INVALID', reason: 'the guard failed (Error)' }],
  )
})
