import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import websocket from '@fastify/websocket'
import { denyList } from '../../lib/entrypoints/revocation/index.ts'
import tenantAuth, {
  type AuthOptions,
  type Authorization,
  AuthService,
  authorizationOf,
  currentAuthorization,
  errors,
  refusalOf,
} from '../../lib/index.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'
import { greeting, refusal, socketTo } from '../helpers/app/sockets.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'

type Checks = NonNullable<AuthOptions['checks']>

const never = () => new Promise<never>(() => {})

/** An application with a route whose handler counts its runs. */
async function start(t: TestContext, checks: Checks, check: string | string[], options = {}) {
  const log = logLines()
  const app = await guardedApp(t, { checks, ...options }, { logger: log.logger })
  let ran = 0
  app.all('/:tenant/x', { config: { check } }, async () => {
    ran += 1
    return 'x'
  })
  const headers = await as({ acme: ['a:b'] }, { sub: 'alice' })
  const ask = (method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    app.inject({ method, url: '/acme/x', headers })
  return { app, log, ask, ran: () => ran }
}

test('a check sees the authorization and the validated request, just before the handler', async (t) => {
  const seen: unknown[] = []
  const own = async (authorization: Authorization | null, request: object) => {
    seen.push(authorization?.userInfo.sub, authorization?.tenant, { ...Object(request).params })
    seen.push(Object(request).body)
    return true
  }
  const app = await guardedApp(t, { checks: { own } })
  const schema = { params: { type: 'object', properties: { id: { type: 'integer' } } } }
  app.post('/:tenant/orders/:id', { config: { check: 'own' }, schema }, async () => 'x')
  const headers = await as({ acme: [] }, { sub: 'alice' })
  const post = (id: string) =>
    app.inject({ method: 'POST', url: `/acme/orders/${id}`, headers, payload: { n: 1 } })
  assert.equal(outcome(await post('7')), '200')
  assert.deepEqual(seen.splice(0), ['alice', 'acme', { tenant: 'acme', id: 7 }, { n: 1 }])
  assert.equal((await post('x')).statusCode, 400)
  assert.deepEqual(seen, [], 'validation comes first')
})

const HELD: readonly [check: string | string[], asked: string, code: string | null][] = [
  ['yes', 'yes', null],
  [['yes', 'also'], 'yes also', null],
  ['no', 'no', 'ERR_AUTH_NOT_PERMITTED'],
  [['no', 'yes'], 'no', 'ERR_AUTH_NOT_PERMITTED'],
  [['yes', 'no', 'also'], 'yes no', 'ERR_AUTH_NOT_PERMITTED'],
]

for (const [check, asked, code] of HELD) {
  for (const method of ['GET', 'HEAD', 'POST'] as const) {
    test(`${method} with ${JSON.stringify(check)} is ${code ?? 'admitted'}`, async (t) => {
      const calls: string[] = []
      const checks = {
        yes: () => Boolean(calls.push('yes')),
        also: async () => Boolean(calls.push('also')),
        no: () => !calls.push('no'),
      }
      const { ask, ran } = await start(t, checks, check)
      const response = await ask(method)
      assert.equal(response.statusCode, code === null ? 200 : 403)
      if (code !== null && method !== 'HEAD') assertRefused(response, 'ERR_AUTH_NOT_PERMITTED')
      assert.equal(calls.join(' '), asked)
      assert.equal(ran(), code === null ? 1 : 0)
    })
  }
}

const thrown = (error: unknown) => () => {
  throw error
}

const ANSWERS: readonly [what: string, check: unknown, code: string, reason: RegExp][] = [
  ['throws', thrown(new Error('secret')), 'ERR_AUTH_CHECK_UNAVAILABLE', /failed \(Error\)/],
  ['rejects', async () => thrown(new Error('secret'))(), 'ERR_AUTH_CHECK_UNAVAILABLE', /failed/],
  ['answers false', () => false, 'ERR_AUTH_NOT_PERMITTED', /^the check own does not hold$/],
  ['answers 1', () => 1, 'ERR_AUTH_CHECK_UNAVAILABLE', /no usable answer/],
  ['answers nothing', () => undefined, 'ERR_AUTH_CHECK_UNAVAILABLE', /no usable answer/],
  ['answers "true"', async () => 'true', 'ERR_AUTH_CHECK_UNAVAILABLE', /no usable answer/],
  [
    'answers with an error of ours',
    () => new errors.ERR_AUTH_TENANT_FORBIDDEN(),
    'ERR_AUTH_CHECK_UNAVAILABLE',
    /no usable answer/,
  ],
  [
    'throws an error of boot',
    thrown(new errors.ERR_AUTH_CONFIG_INVALID('x')),
    'ERR_AUTH_CHECK_UNAVAILABLE',
    /failed/,
  ],
  [
    'requires more',
    (authorization: Authorization) => {
      authorization.require('order:erase')
      return true
    },
    'ERR_AUTH_RESOURCE_MISSING',
    /a required resource is missing|A required resource/i,
  ],
  [
    'wants a fresh login',
    (authorization: Authorization) => {
      authorization.stepUp({ acr: 'phr' })
      return true
    },
    'ERR_AUTH_STEP_UP_REQUIRED',
    /acr|login/,
  ],
  [
    'looks into another tenant',
    async (authorization: Authorization) => Boolean(authorization.in('other')),
    'ERR_AUTH_TENANT_FORBIDDEN',
    /may not act/,
  ],
]

for (const [what, check, code, reason] of ANSWERS) {
  test(`a check that ${what} refuses with ${code}`, async (t) => {
    const { app, ask, ran, log } = await start(t, { own: check as Checks[string] }, 'own')
    const refusals: unknown[] = []
    app.addHook('onResponse', async (request) => {
      const { error, authorization, tenant } = refusalOf(request) ?? {}
      refusals.push(error?.code, authorization?.userInfo.sub, tenant, authorizationOf(request))
    })
    const response = await ask()
    assert.equal(response.json().code, code)
    assert.equal(response.body.includes('secret'), false)
    assert.equal(ran(), 0)
    assert.deepEqual(refusals, [code, 'alice', 'acme', null])
    assert.match(String(log.lines('request refused')[0]?.['reason']), reason)
    if (code !== 'ERR_AUTH_CHECK_UNAVAILABLE') return
    assert.match(String(log.lines('request refused')[0]?.['reason']), /^the check own /)
    const [line] = log.lines('tenant auth: the check own')
    assert.equal(line?.level, 40)
    assert.equal(/answers/.test(what) || typeof line['err'] === 'object', true, 'with the error')
  })
}

test('a check that is late is 503, and gives its place free at its limit', async (t) => {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const own = t.mock.fn(never)
  const { ask } = await start(t, { own }, 'own', { tenantsTimeout: 7 })
  const settled = async () => {
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate)
  }
  const asked = Array.from({ length: 64 }, () => ask())
  await settled()
  t.mock.timers.tick(2000)
  asked.push(...Array.from({ length: 6 }, () => ask()))
  await settled()
  assert.equal(own.mock.callCount(), 64)
  t.mock.timers.tick(4900)
  await settled()
  assert.equal(own.mock.callCount(), 64)
  t.mock.timers.tick(100)
  await settled()
  assert.equal(own.mock.callCount(), 70)
  t.mock.timers.tick(7000)
  const answers = (await Promise.all(asked)).map(outcome)
  assert.deepEqual([...new Set(answers)], ['503 ERR_AUTH_CHECK_UNAVAILABLE'])
})

test('a closing application waits for no check', async (t) => {
  const { app, ask } = await start(t, { own: never }, 'own', { tenantsTimeout: 3600 })
  const asked = Array.from({ length: 66 }, () => ask())
  await new Promise(setImmediate)
  await app.close()
  for (const response of await Promise.all(asked)) assert.equal(response.statusCode, 503)
})

test('what has ended while a check was asked is refused', async (t) => {
  const list = denyList()
  const own = async () => {
    await list.add({ sub: 'alice' })
    return true
  }
  const events = heard(t, 'decision')
  const { ask, ran } = await start(t, { own }, 'own', { isRevoked: list })
  assertRefused(await ask(), 'ERR_AUTH_TOKEN_INVALID')
  assert.equal(ran(), 0)
  assert.deepEqual(
    events.map(({ reason, sub }) => [reason, sub]),
    [['revoked', null]],
  )
})

test('superusers are checked too, and dev mode asks as well', async (t) => {
  const seen: boolean[] = []
  const own = (authorization: Authorization | null) => {
    const isSuperuser = authorization?.isSuperuser === true
    seen.push(isSuperuser)
    return isSuperuser
  }
  const options = { checks: { own }, superuserResource: 'root:all' }
  for (const app of [
    await guardedApp(t, options),
    await guardedApp(t, { ...options, devMode: true }),
  ]) {
    app.get('/:tenant/x', { config: { check: 'own' } }, async () => 'x')
    const headers = await as({ '*': ['root:all'] })
    const response = await app.inject({ url: '/default/x', headers })
    assert.equal(outcome(response), seen.at(-1) ? '200' : '403 ERR_AUTH_NOT_PERMITTED')
  }
  assert.deepEqual(seen, [true, false])
})

test('the event and the count come with the last answer, once', async (t) => {
  const events = heard(t, 'decision')
  const waiting: ((holds: boolean) => void)[] = []
  const own = () => new Promise<boolean>((resolve) => void waiting.push(resolve))
  const { app, ask } = await start(t, { own }, ['own'])
  for (const [holds, outcomeOf, code] of [
    [true, 'admitted', null],
    [false, 'refused', 'ERR_AUTH_NOT_PERMITTED'],
  ] as const) {
    const asked = ask()
    for (let turns = 0; turns < 10; turns++) await new Promise(setImmediate)
    assert.equal(events.length, 0)
    waiting.shift()?.(holds)
    await asked
    assert.deepEqual(
      events.splice(0).map((event) => [event.outcome, event.code, event.checks, event.sub]),
      [[outcomeOf, code, ['own'], 'alice']],
    )
  }
  const refused = { ERR_AUTH_NOT_PERMITTED: 1 }
  assert.deepEqual(app.authService.stats().decisions, { admitted: 1, refused })
})

test('what is refused before is not checked, and is recorded at once', async (t) => {
  const events = heard(t, 'decision')
  const { app, ran } = await start(t, { own: thrown(new Error('asked')) }, 'own')
  assertRefused(await app.inject('/acme/x'), 'ERR_AUTH_TOKEN_MISSING')
  const headers = await as({ other: [] })
  assertRefused(await app.inject({ url: '/acme/x', headers }), 'ERR_AUTH_TENANT_FORBIDDEN')
  assert.deepEqual([events.length, ran()], [2, 0])
})

test('a check runs for its request: in its context, and before an early handler too', async (t) => {
  const seen: unknown[] = []
  const own = async () => {
    await null
    seen.push(currentAuthorization()?.tenant)
    return true
  }
  const app = bareApp(t)
  app.get('/:tenant/early', { config: { check: 'own' } }, async () => 'x')
  await app.register(tenantAuth, trusting({ checks: { own }, asyncContext: true }))
  app.get('/:tenant/x', { config: { check: 'own' } }, async () => currentAuthorization()?.tenant)
  const headers = await as({ acme: [] })
  for (const url of ['/acme/early', '/acme/x']) {
    assert.equal(outcome(await app.inject({ url, headers })), '200')
  }
  assert.deepEqual(seen, ['acme', 'acme'])
})

test('a WebSocket is opened only if the check holds', async (t) => {
  let holds = true
  const app = await guardedApp(t, { checks: { own: async () => holds } })
  await app.register(websocket)
  const config = { check: 'own' }
  app.get('/:tenant/ws', { config, websocket: true }, (socket) => socket.send('hello'))
  await app.listen()
  const headers = await as({ acme: [] })
  assert.equal(await greeting(socketTo(app, '/acme/ws', { headers })), 'hello')
  holds = false
  assert.equal((await refusal(socketTo(app, '/acme/ws', { headers }))).statusCode, 403)
})

test('a check that is added to the option after the guard is none', async (t) => {
  const checks: Checks = { own: () => true }
  const app = await guardedApp(t, { checks })
  Object.assign(checks, { late: () => true })
  app.get('/x', { config: { check: 'late' } }, async () => 'x')
  await assertRouteInvalid(app, 'GET /x: check names late, which is not one of checks')
})

const MISTAKES: readonly [config: object, message: string][] = [
  [{ check: 'other' }, 'check names other, which is not one of checks'],
  [{ check: ['own', 'constructor'] }, 'check names constructor, which is not one of checks'],
  [{ check: [] }, 'check is not the name of a check, or a list of names, found []'],
  [{ check: '' }, "check is not the name of a check, or a list of names, found ''"],
  [{ check: true }, 'check is not the name of a check, or a list of names, found true'],
  [{ checks: 'own' }, 'checks looks like check'],
]

for (const [config, message] of MISTAKES) {
  test(`${JSON.stringify(config)} stops the boot, and closes an early route`, async (t) => {
    const app = await guardedApp(t, { checks: { own: () => true } })
    app.get('/x', { config }, async () => 'x')
    await assertRouteInvalid(app, `GET /x: ${message}`)
    const early = bareApp(t)
    early.get('/:tenant/x', { config }, async () => 'x')
    await early.register(tenantAuth, trusting({ checks: { own: () => true } }))
    const response = await early.inject({ url: '/acme/x', headers: await as({ acme: ['a:b'] }) })
    assert.equal(outcome(response), '403 ERR_AUTH_RESOURCE_MISSING')
  })
}

test('a check that no route names is a warning at boot, and one that is no function stops it', async (t) => {
  const { app, log } = await start(t, { own: () => true, odd: () => true, even: () => true }, 'own')
  await app.ready()
  const shown = log.messages(40).filter((line) => line.includes('checks'))
  assert.deepEqual(shown, ['tenant auth: no route names these checks: odd, even'])
  for (const checks of [{ own: true }, [() => true], { '': () => true }]) {
    const options = { ...trusting(), checks: checks as unknown as Checks }
    assert.throws(() => new AuthService(options), { code: 'ERR_AUTH_CONFIG_INVALID' })
  }
})

test('routes() and the document name the checks', async (t) => {
  const { app } = await start(t, { own: () => true }, ['own'])
  await app.ready()
  for (const { check } of app.authService.routes()) assert.deepEqual(check, ['own'])
  const paths = { '/{tenant}/x': { get: { responses: {} } } }
  assert.match(JSON.stringify(app.authService.openapi({ paths })), /Checked by own/)
})
