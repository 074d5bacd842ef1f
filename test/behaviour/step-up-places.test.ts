import assert from 'node:assert/strict'
import { test } from 'node:test'
import websocket from '@fastify/websocket'
import Fastify from 'fastify'

// It is made before the package is loaded, which does not know it.
const madeBefore = Fastify()
const {
  default: tenantAuth,
  AuthService,
  currentAuthorization,
  errors,
  refusalOf,
} = await import('../../lib/index.ts')
const { authority, as, bareApp, guardedApp, trusting, untyped } = await import(
  '../helpers/app/guarded-app.ts'
)
const { heard } = await import('../helpers/app/heard.ts')
const { outcome } = await import('../helpers/app/refusals.ts')
const { greeting, refusal, socketTo } = await import('../helpers/app/sockets.ts')
const { holdTime } = await import('../helpers/processes/age-by-date.ts')

const STALE = '401 ERR_AUTH_STEP_UP_REQUIRED'
const BOTH = { acr: ['phr', 'phrh'], maxAge: 300 } as const
const now = () => Math.floor(Date.now() / 1000)
const fresh = () => ({ acr: 'phr', auth_time: now() })
const handler = async () => 'handled'

const ACR = ', acr_values="phr phrh"'
const AGE = ', max_age="300"'
const METADATA = ', resource_metadata="https://api.test/.well-known/oauth-protected-resource/lunch"'
const RESOURCE = { resource: 'https://api.test/lunch', audience: 'https://api.test/lunch' }

/** What is wanted, the options, and what the challenge says after the error. */
const CHALLENGES: readonly [stepUp: object, options: object, challenge: string][] = [
  [BOTH, {}, `${ACR}${AGE}`],
  [{ acr: 'phr' }, {}, ', acr_values="phr"'],
  [{ acr: ['b', 'a', 'b'] }, {}, ', acr_values="b a"'],
  [{ acr: 'urn:x:[phr]' }, {}, ', acr_values="urn:x:[phr]"'],
  [{ maxAge: 0 }, {}, ', max_age="0"'],
  [BOTH, RESOURCE, `${ACR}${AGE}${METADATA}`],
]

for (const [stepUp, options, expected] of CHALLENGES) {
  test(`${JSON.stringify(stepUp)} with ${JSON.stringify(options)} is asked for by${expected}`, async (t) => {
    const app = await guardedApp(t, untyped(options))
    const config: object = { require: 'a:b', stepUp }
    app.get('/x', { config }, handler)
    app.get('/handler', { config: { authorization: true } }, async ({ authorization }) => {
      authorization.stepUp(Object(stepUp))
    })
    const { audience } = { audience: 'api', ...options }
    const headers = await authority.headers({ resources: { '*': ['a:b'] } }, { audience })
    for (const url of ['/x', '/handler']) {
      const response = await app.inject({ url, headers })
      assert.equal(outcome(response), STALE)
      const found = response.headers['www-authenticate']
      assert.equal(found, `Bearer realm="api", error="insufficient_user_authentication"${expected}`)
      assert.equal(response.headers['cache-control'], 'no-store')
      assert.equal(response.json().message, 'A new login is required')
    }
  })
}

test('of two schemes the one that was used has the error', async (t) => {
  const app = await guardedApp(t, { confirmation: 'check', publicUrl: 'https://api.test' })
  app.get('/x', { config: { stepUp: BOTH } }, handler)
  const error = `error="insufficient_user_authentication"${ACR}${AGE}`
  const alice = await authority.bound({ sub: 'alice' })
  const ways = [
    [await as(), [`Bearer realm="api", ${error}`, /^DPoP realm="api", algs="[^"]+"$/]],
    [
      alice.headers('GET', 'https://api.test/x'),
      ['Bearer realm="api"', /^DPoP realm="api", algs="[^"]+", error=/],
    ],
  ] as const
  for (const [headers, expected] of ways) {
    const response = await app.inject({ url: '/x', headers: { ...headers } })
    assert.equal(outcome(response), STALE)
    const [bearer, dpop] = [response.headers['www-authenticate'] ?? []].flat()
    assert.equal(bearer, expected[0])
    assert.match(String(dpop), expected[1])
  }
})

test('an error that an application makes breaks no header, whatever it wants', async (t) => {
  const app = await guardedApp(t)
  const wanted: unknown[] = [
    { acr: ['phr"', 'a b', '', 'ok', 7], maxAge: -1 },
    { acr: 'text', maxAge: 1.5 },
    { maxAge: 60 },
    {},
    undefined,
  ]
  app.get<{ Querystring: { n: number } }>('/x', async ({ query }) => {
    throw new errors.ERR_AUTH_STEP_UP_REQUIRED(wanted[query.n] as never)
  })
  const headers = await as()
  const said = [', acr_values="ok"', ', acr_values="text"', ', max_age="60"', '', '']
  for (const [n, expected] of said.entries()) {
    const response = await app.inject({ url: `/x?n=${n}`, headers })
    assert.equal(outcome(response), STALE)
    const found = response.headers['www-authenticate']
    assert.equal(found, `Bearer realm="api", error="insufficient_user_authentication"${expected}`)
  }
})

test('early routes want it, also of an application that was made before', async (t) => {
  t.after(() => madeBefore.close())
  for (const app of [bareApp(t), madeBefore]) {
    app.get('/x', { config: { stepUp: BOTH } }, handler)
    await app.register(tenantAuth, trusting())
    for (const method of ['GET', 'HEAD'] as const) {
      const ask = async (claims: object) =>
        (await app.inject({ method, url: '/x', headers: await as({}, { ...claims }) })).statusCode
      assert.deepEqual([await ask({}), await ask(fresh())], [401, 200])
    }
  }
})

test('a WebSocket is refused before its upgrade, and opened for a fresh login', async (t) => {
  const app = await guardedApp(t)
  await app.register(websocket)
  app.get('/socket', { websocket: true, config: { stepUp: BOTH } }, (socket) => socket.send('hi'))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const refused = await refusal(socketTo(app, '/socket', { headers: await as() }))
  assert.equal(refused.statusCode, 401)
  assert.match(String(refused.headers['www-authenticate']), /max_age="300"/)
  const headers = await as({}, fresh())
  assert.equal(await greeting(socketTo(app, '/socket', { headers })), 'hi')
})

test('a login that grows too old before the handler is refused at the last gate', async (t) => {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const events = heard(t, 'decision')
  const app = await guardedApp(t, { checks: { slow: () => pass() } })
  let isSlow = true
  const pass = () => {
    t.mock.timers.tick(isSlow ? 306_000 : 0)
    return true
  }
  app.addHook('preValidation', async ({ url }) => {
    if (url === '/body') pass()
  })
  app.get('/body', { config: { stepUp: BOTH } }, handler)
  app.get('/checked', { config: { stepUp: BOTH, check: 'slow' } }, handler)
  const ask = async (url: string) =>
    app.inject({ url, headers: await authority.headers(fresh(), { expiresIn: 3600 }) })
  for (const url of ['/body', '/checked']) {
    isSlow = false
    assert.equal(outcome(await ask(url)), '200')
    isSlow = true
    const { length } = events
    assert.equal(outcome(await ask(url)), STALE)
    const [last] = events.slice(length).reverse()
    assert.deepEqual([last?.outcome, last?.sub], ['refused', 'test-user'])
  }
})

test('a check may ask for a login, and its refusal is that', async (t) => {
  const app = await guardedApp(t, {
    checks: {
      amount: (authorization) => {
        authorization?.stepUp({ maxAge: 60 })
        return true
      },
      wrong: (authorization) => {
        authorization?.stepUp(Object({}))
        return true
      },
    },
  })
  app.get('/x', { config: { check: 'amount' } }, handler)
  app.get('/wrong', { config: { check: 'wrong' } }, handler)
  const response = await app.inject({ url: '/x', headers: await as() })
  assert.equal(outcome(response), STALE)
  assert.match(String(response.headers['www-authenticate']), /, max_age="60"$/)
  const headers = await as({}, fresh())
  assert.equal(outcome(await app.inject({ url: '/x', headers })), '200')
  const failed = await app.inject({ url: '/wrong', headers })
  assert.equal(outcome(failed), '503 ERR_AUTH_CHECK_UNAVAILABLE')
})

test('the same user in another tenant has the same login', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { authorization: true } }, async ({ authorization }) => {
    authorization.in('acme').stepUp(BOTH)
    return 'fresh'
  })
  const ask = async (claims: object) =>
    outcome(await app.inject({ url: '/x', headers: await as({ acme: [] }, { ...claims }) }))
  assert.deepEqual([await ask({}), await ask(fresh())], [STALE, '200'])
})

test('below actAs nobody has logged in', async (t) => {
  const service = new AuthService({ ...trusting(), asyncContext: true })
  t.after(() => service.close())
  const job = { sub: 'job:invoices', tenant: 'acme', resources: ['a:b'] }
  for (const wanted of [{ acr: 'phr' }, { maxAge: 1e9 }, BOTH]) {
    await service.actAs(job, () => {
      const refused = { code: 'ERR_AUTH_STEP_UP_REQUIRED' }
      assert.throws(() => currentAuthorization()?.stepUp(wanted), refused)
    })
  }
})

test('in dev mode any login is there, and a wrong argument is wrong still', async (t) => {
  const app = await guardedApp(t, { devMode: true })
  app.get('/x', { config: { stepUp: BOTH, authorization: true } }, async ({ authorization }) => {
    authorization.stepUp({ acr: 'none', maxAge: 0 })
    assert.throws(() => authorization.stepUp(Object({})), TypeError)
    return 'handled'
  })
  assert.equal(outcome(await app.inject('/x')), '200')
})

test('the refused user is known where refusals are audited', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', { config: { stepUp: BOTH } }, handler)
  const subs: unknown[] = []
  app.addHook('onError', async (request) => {
    subs.push(refusalOf(request)?.authorization?.userInfo.sub)
  })
  await app.inject({ url: '/x', headers: await as({}, { sub: 'alice' }) })
  assert.deepEqual(subs, ['alice'])
})
