import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions, authorizationOf, refusalOf } from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { outcome } from '../helpers/app/refusals.ts'

const LATE = { tenant: 'required', late: true } as const
const byBody: AuthOptions = { resolveTenant: ({ body }) => Object(body).project ?? null }
const USER = { acme: ['a:b'] }

async function start(t: TestContext, options: AuthOptions = {}) {
  const app = await guardedApp(t, { ...byBody, ...options })
  const headers = await as(USER, { sub: 'alice' })
  const post = async (payload: object, more = {}) =>
    outcome(
      await app.inject({ method: 'POST', url: '/x', headers: { ...headers, ...more }, payload }),
    )
  return { app, post, headers }
}

test('a resolver that changes its mind decides for what it says last, once', async (t) => {
  const answers = ['acme', 'other']
  let asked = 0
  const resolveTenant = () => answers[asked++] ?? null
  const { app, post } = await start(t, { resolveTenant })
  const seen: unknown[] = []
  app.post('/x', { config: LATE }, async ({ tenant }) => seen.push(tenant))
  assert.equal(await post({}), '200')
  assert.equal(await post({}), '403 ERR_AUTH_TENANT_FORBIDDEN')
  assert.deepEqual([seen, asked], [['acme'], 2])
})

test('a token that is revoked while the resolver is asked lets nobody in, and names nobody', async (t) => {
  const isRevoked = denyList()
  const events = heard(t, 'decision')
  const resolveTenant = async () => {
    await isRevoked.add({ sub: 'alice' })
    return 'acme'
  }
  const { app, post } = await start(t, { resolveTenant, isRevoked })
  app.post('/x', { config: LATE }, async () => assert.fail('the handler runs'))
  assert.equal(await post({}), '401 ERR_AUTH_TOKEN_INVALID')
  assert.deepEqual(
    events.map(({ reason, sub }) => [reason, sub]),
    [['revoked', null]],
  )
})

test('a later hook that changes the body changes no decision', async (t) => {
  const { app, post } = await start(t)
  app.post(
    '/x',
    {
      config: { ...LATE, authorization: true },
      preHandler: async (request) => {
        Object(request.body).project = 'other'
      },
    },
    async ({ tenant, authorization, body }) => {
      assert.deepEqual([tenant, authorization.tenant, body], ['acme', 'acme', { project: 'other' }])
    },
  )
  assert.equal(await post({ project: 'acme' }), '200')
})

test('a hook that puts the credentials of a service into the request changes no user', async (t) => {
  const service = await as({ other: [] }, { sub: 'service' })
  for (const authorization of [service.authorization, 'Basic c2VydmljZTpzZWNyZXQ=']) {
    const { app, post } = await start(t)
    app.addHook('preValidation', async (request) => {
      request.headers.authorization = authorization
    })
    const subs: unknown[] = []
    app.post('/x', { config: { ...LATE, userInfo: true } }, async ({ userInfo }) => {
      subs.push(userInfo.sub)
    })
    assert.equal(await post({ project: 'acme' }), '200')
    assert.equal(await post({ project: 'other' }), '403 ERR_AUTH_TENANT_FORBIDDEN')
    assert.deepEqual(subs, ['alice'])
  }
})

test('an error handler that calls the handler gives it nothing', async (t) => {
  const { app, post } = await start(t)
  const seen: unknown[] = []
  const handler = async (request: FastifyRequest) => {
    const { tenant, authorization } = request
    seen.push(tenant, authorization, authorizationOf(request))
    return 'x'
  }
  const config = { ...LATE, authorization: true }
  const schema = { body: { type: 'object', required: ['n'] } }
  const errorHandler = async (_error: unknown, request: FastifyRequest) => handler(request)
  app.post('/x', { config, schema, errorHandler }, handler)
  await post({ project: 'acme' })
  await post({ n: 1, project: 'other' })
  assert.deepEqual(seen, [undefined, undefined, null, undefined, undefined, null])
})

test('an error of the body itself is no decision, and has no refusal', async (t) => {
  const events = heard(t, 'decision')
  const { app, headers } = await start(t)
  const refusals: unknown[] = []
  app.addHook('onResponse', async (request) => {
    refusals.push(refusalOf(request), authorizationOf(request))
  })
  app.post('/x', { config: LATE, bodyLimit: 8 }, async () => assert.fail('a handler has run'))
  for (const [payload, type] of [
    ['{', 'application/json'],
    ['{"project":"acme"}', 'application/json'],
    ['a', 'text/csv'],
  ] as const) {
    const all = { ...headers, 'content-type': type }
    const response = await app.inject({ method: 'POST', url: '/x', headers: all, payload })
    assert.ok([400, 413, 415].includes(response.statusCode), String(response.statusCode))
  }
  assert.deepEqual([...new Set(refusals)], [null])
  assert.deepEqual(events, [])
})

test('a token that is revoked while its body comes is refused when it is whole', async (t) => {
  const list = denyList()
  const { app, headers } = await start(t, { isRevoked: list })
  app.post('/x', { config: LATE }, async () => assert.fail('a handler has run'))
  const address = await app.listen()
  const socket = connect(Number(new URL(address).port), '127.0.0.1')
  t.after(() => socket.destroy())
  const body = '{"project":"acme"}'
  const heads = [
    'POST /x HTTP/1.1',
    'host: a',
    `authorization: ${headers.authorization}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  const begun = new Promise<void>((resolve) => {
    app.server.once('request', () => setImmediate(resolve))
  })
  socket.write(`${heads.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  await begun
  await list.add({ sub: 'alice' })
  socket.write(body.slice(5))
  let answer = ''
  for await (const chunk of socket) answer += chunk
  assert.match(answer, /^HTTP\/1\.1 401 .*ERR_AUTH_TOKEN_INVALID/s)
})

const HOOKS: readonly [what: string, hook: (reply: FastifyReply) => unknown, found: string][] = [
  ['sends', (reply) => reply.send('early'), '200'],
  ['calls the not-found handler', (reply) => reply.callNotFound(), '404'],
]

for (const hookName of ['onRequest', 'preParsing', 'preValidation', 'preHandler'] as const) {
  for (const [what, hook, found] of HOOKS) {
    test(`where ${hookName} ${what}, neither handler nor check runs, on late and open routes`, async (t) => {
      let checked = 0
      const checks = { own: () => Boolean(++checked) }
      const app = bareApp(t)
      await app.register(tenantAuth, trusting({ ...byBody, checks }))
      app.register(async (scope) => {
        scope.addHook(hookName, async (_request: FastifyRequest, reply: FastifyReply) => {
          hook(reply)
          return reply
        })
        scope.post('/x', { config: { ...LATE, check: 'own' } }, async () => assert.fail('ran'))
        scope.post('/open', { config: { noauth: true, check: 'own' } }, async () =>
          assert.fail('ran'),
        )
      })
      const headers = await as(USER)
      for (const url of ['/x', '/open']) {
        const payload = { project: 'acme' }
        const response = await app.inject({ method: 'POST', url, headers, payload })
        assert.equal(response.statusCode, Number(found))
        // A hook of a scope below comes after the gate, as ever.
        assert.equal(checked, hookName === 'preHandler' ? 1 : 0)
        checked = 0
      }
    })
  }
}

test('a config that changes after the guard has seen it changes nothing', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, trusting(byBody))
  app.post('/x', { config: LATE }, async () => 'x')
  app.post('/changed', { config: { ...LATE } }, async () => 'x')
  app.addHook('onRequest', async (request) => {
    if (request.url === '/changed') Object(request.routeOptions.config).late = false
  })
  await app.ready()
  const headers = await as(USER)
  const post = (url: string) =>
    app.inject({ method: 'POST', url, headers, payload: { project: 'acme' } })
  assert.equal(outcome(await post('/x')), '200')
  assert.equal(outcome(await post('/changed')), '200')
})

test('a live config that says late, or open, before the first request is closed', async (t) => {
  for (const [key, value] of [
    ['late', true],
    ['late', false],
    ['tenant', false],
    ['check', undefined],
  ] as const) {
    const app = bareApp(t)
    app.addHook('onRequest', async ({ routeOptions }) => {
      Object(routeOptions.config)[key] = value
    })
    await app.register(tenantAuth, trusting({ ...byBody, checks: { own: () => true } }))
    const config = {
      tenant: 'required',
      check: 'own',
      ...(key === 'late' && !value && LATE),
    } as const
    app.post('/x', { config }, async () => assert.fail('a handler has run'))
    const headers = await as({ '*': ['a:b'], acme: [] })
    const payload = { project: 'acme' }
    const response = await app.inject({ method: 'POST', url: '/x', headers, payload })
    assert.equal(outcome(response), '403 ERR_AUTH_RESOURCE_MISSING', key)
  }
})
