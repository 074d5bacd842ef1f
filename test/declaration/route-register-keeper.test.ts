import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { RouteKeeper } from '../../lib/declaration/route-keeper.ts'
import type { WrittenRoute } from '../../lib/declaration/written-route.ts'
import { logLines } from '../helpers/app/log-lines.ts'

// It is made before the package is loaded, which is not told of it. For this reason the imports of
// the package stand below.
const madeBefore = Fastify({ exposeHeadRoutes: false })
const { RouteRegister } = await import('../../lib/declaration/route-register.ts')
const { CLOSED } = await import('../../lib/declaration/policy.ts')

const RULES = { multitenancy: true, devMode: false, tenantParameter: 'tenant' }
const OPTIONAL = { config: { tenant: 'optional' } } as const
const OPEN = { config: { noauth: true } }
const handler = async () => 'x'
const versioned = (version: string) => ({ constraints: { version } })

/** A keeper that notes what it is told. */
function notingKeeper() {
  const confirmed: unknown[] = []
  const keeper = {
    isSound: (_request: FastifyRequest): boolean => true,
    confirm: (route: WrittenRoute) => (_request, _reply, done) => {
      confirmed.push(route.constraints)
      done()
    },
  } satisfies RouteKeeper
  return { confirmed, keeper }
}

/** A register of an application, and the requests that it is asked with. */
function start(
  t: TestContext,
  early: (app: FastifyInstance) => void = () => {},
  given?: typeof madeBefore,
) {
  const log = logLines('error')
  const app = given ?? Fastify({ exposeHeadRoutes: false, logger: log.logger })
  t.after(() => app.close())
  const requests: FastifyRequest[] = []
  app.addHook('onRequest', async (request) => void requests.push(request))
  early(app)
  const noted = notingKeeper()
  const register = new RouteRegister(app, 'guard', RULES, noted.keeper)
  const ask = async (url: string, headers = {}): Promise<FastifyRequest> => {
    await app.inject({ url, headers })
    const request = requests.at(-1)
    assert.ok(request, 'the hook has seen the request')
    return request
  }
  return { ...noted, app, register, ask, errors: () => log.lines('tenant auth') }
}

/** Another request, whose config is a copy. */
function copyOf({ routeOptions }: FastifyRequest): FastifyRequest {
  const { config, ...options } = routeOptions
  return Object.assign(Object.create(null), {
    routeOptions: { ...options, config: { ...config } },
  })
}

const urlsOf = (routes: readonly WrittenRoute[] = []) => routes.map(({ url }) => url)

test('a register has each route of the scope, early or late, and no other', async (t) => {
  const app = Fastify({ exposeHeadRoutes: false })
  t.after(() => app.close())
  const { keeper } = notingKeeper()
  let routes: readonly WrittenRoute[] = []
  app.get('/outside', handler)
  await app.register(async (scope) => {
    scope.get('/early', OPTIONAL, handler)
    const register = new RouteRegister(scope, 'guard', RULES, keeper)
    scope.get('/late', OPTIONAL, handler)
    await scope.register(async (child) => void child.get('/in/child', handler))
    assert.deepEqual([register.scope === scope, register.guardName], [true, 'guard'])
    app.get('/other', handler)
    assert.deepEqual(urlsOf(register.seen), ['/late', '/in/child'])
    assert.deepEqual(urlsOf(register.early), ['/early'])
    register.compile()
    routes = [...(register.early ?? []), ...register.seen]
    assert.equal(routes[0]?.scope === scope, true)
  })
  assert.deepEqual(
    routes.map(({ policy, url }) => [url, policy?.mayBeAbsent]),
    [
      ['/early', false],
      ['/late', true],
      ['/in/child', false],
    ],
  )
})

test('problems of early routes are told, and those of others stop the boot', (t) => {
  const bad: object = { config: { noauth: 1, tenant: 7 } }
  const problems =
    "noauth is no boolean, found 1; tenant is not true, 'required' or 'optional', found 7"
  const sorted = (text: string) => text.split(/: |; /).sort()
  const { app, register } = start(t, (early) => void early.get('/early', bad, handler))
  assert.deepEqual(register.earlyProblems, [])
  register.compile()
  assert.equal(register.earlyProblems.length, 1)
  assert.deepEqual(sorted(register.earlyProblems[0] ?? ''), sorted(`GET /early: ${problems}`))
  app.get('/one', bad, handler)
  app.get('/two', { config: { noauth: true, tenant: true } }, handler)
  assert.throws(
    () => register.compile(),
    ({ code, message }) => {
      const [one, two] = String(message).split('\n')
      assert.deepEqual(sorted(one ?? ''), sorted(`GET /one: ${problems}`))
      assert.equal(two, 'GET /two: noauth contradicts tenant')
      return code === 'ERR_AUTH_ROUTE_INVALID'
    },
  )
})

test('a route that Fastify has refused is neither seen nor early', (t) => {
  const write = (app: FastifyInstance) => {
    app.get('/x', handler)
    assert.throws(() => app.get('/x', handler))
  }
  const { app, register } = start(t, write)
  assert.deepEqual(urlsOf(register.early), ['/x'])
  app.get('/y', handler)
  assert.throws(() => app.get('/y', handler))
  assert.deepEqual(urlsOf(register.seen), ['/y'])
})

test('a route that Fastify has added in part stops the boot', (t) => {
  const { app, register } = start(t)
  app.get('/x', handler)
  assert.throws(() => app.route({ method: ['PUT', 'GET'], url: '/x', handler }))
  assert.throws(() => register.compile(), {
    code: 'ERR_AUTH_ROUTE_INVALID',
    message: 'PUT, GET /x: Fastify refused a part of it, since another route is there',
  })
})

test('each of several routes of one place has a hook that confirms it, and no other has', async (t) => {
  const { app, confirmed, ask } = start(t)
  for (const version of ['1.0.0', '2.0.0', '3.0.0']) app.get('/x', versioned(version), handler)
  app.get('/y', handler)
  for (const version of ['1.0.0', '2.0.0', '3.0.0']) {
    await ask('/x', { 'accept-version': version })
    assert.deepEqual(confirmed.splice(0), [{ version }])
  }
  await ask('/y')
  assert.deepEqual(confirmed, [])
})

test('the policy of a request is that of its route, whatever its config says later', async (t) => {
  const { app, register, ask } = start(t)
  app.get('/x', OPTIONAL, handler)
  app.get('/open', OPEN, handler)
  await app.ready()
  register.compile()
  const [x, open] = register.seen.map(({ policy }) => policy)
  const request = await ask('/x')
  assert.equal(register.policyOf(request), x)
  request.routeOptions.config.noauth = true
  assert.equal(register.policyOf(await ask('/x')), x)
  assert.equal(register.policyOf(await ask('/open')), open)
  assert.equal(register.policyOf(await ask('/unknown')), null)
})

test('where all routes are known, the only one of a place is found without its config', async (t) => {
  const { app, register, ask } = start(t)
  app.get('/x', handler)
  await app.ready()
  register.compile()
  const request = await ask('/x')
  request.routeOptions.config.noauth = true
  assert.equal(register.policyOf(request), register.seen[0]?.policy)
})

test('before it compiles, a request is read strictly, and anew later', async (t) => {
  const { app, register, ask } = start(t)
  app.get('/x', OPTIONAL, handler)
  const request = await ask('/x')
  assert.equal(register.policyOf(request)?.mayBeAbsent, false)
  register.compile()
  assert.equal(register.policyOf(request)?.mayBeAbsent, true)
})

test('a request that is not sound, or has lost its url, is refused', async (t) => {
  const { app, register, ask, keeper } = start(t)
  app.get('/x', OPEN, handler)
  app.get('/y', OPEN, handler)
  await app.ready()
  register.compile()
  keeper.isSound = ({ url }) => url !== '/x'
  assert.equal(register.policyOf(await ask('/x')), CLOSED)
  const request = await ask('/y')
  Reflect.deleteProperty(request.routeOptions.config, 'url')
  assert.equal(register.policyOf(request), CLOSED)
})

test('a route that was not known at boot is closed, and its place is logged', async (t) => {
  const { app, register, ask, errors } = start(t)
  app.get('/x', OPEN, handler)
  await app.ready()
  register.compile()
  const request = await ask('/x')
  assert.equal(register.policyOf(request)?.noauth, true)
  assert.deepEqual(errors(), [])
  assert.equal(register.policyOf(copyOf(request)), CLOSED)
  const [error] = errors()
  assert.deepEqual(
    [error?.level, error?.['method'], error?.['url'], error?.msg],
    [50, 'GET', '/x', 'tenant auth: a route was not known at boot; it is closed'],
  )
})

test('a request that was taken for one of another route is decided anew', async (t) => {
  const { app, register, ask } = start(t)
  app.get('/x', { ...OPTIONAL, ...versioned('1.0.0') }, handler)
  app.get('/x', { ...OPEN, ...versioned('2.0.0') }, handler)
  await app.ready()
  register.compile()
  const [first, second] = register.seen
  assert.ok(first && second, 'two routes are seen')
  const [optional, open] = register.seen.map(({ policy }) => policy)
  const request = await ask('/x', { 'accept-version': '1.0.0' })
  const other = await ask('/x', { 'accept-version': '2.0.0' })
  Object.assign(request.routeOptions.config, other.routeOptions.config)
  assert.equal(register.policyOf(request), open, 'its config is a copy')
  assert.equal(register.confirms(request, first), false)
  assert.equal(register.policyOf(request), optional)
  assert.equal(register.confirms(request, first), true)
  assert.equal(register.policyOf(other), open, 'the other route is free again')
  assert.equal(register.confirms(other, second), true)
})

test('before it compiles, each route is confirmed', async (t) => {
  const { app, register, ask } = start(t)
  app.get('/x', OPEN, handler)
  const [route] = register.seen
  assert.ok(route, 'the route is seen')
  assert.equal(register.confirms(await ask('/x'), route), true)
})

test('of an application that was made before, early routes are known by their requests', async (t) => {
  const early = (app: FastifyInstance) => {
    app.get('/early', { config: { tenant: 'optional', userInfo: true } }, handler)
    app.get('/open', OPEN, handler)
    app.get('/twin', { ...OPEN, ...versioned('1.0.0') }, handler)
  }
  const { app, register, ask } = start(t, early, madeBefore)
  app.get('/twin', { config: { userInfo: true } }, handler)
  await app.ready()
  register.compile()
  assert.deepEqual([urlsOf(register.seen), register.early], [['/twin'], undefined])
  const policy = register.policyOf(await ask('/early'))
  assert.deepEqual([policy?.tenant, policy?.mayBeAbsent], ['query', false])
  assert.equal(policy?.declared.userInfo, true)
  assert.equal(register.policyOf(await ask('/open'))?.noauth, true)
  const twin = register.policyOf(await ask('/twin', { 'accept-version': '1.0.0' }))
  assert.equal(twin?.noauth, false, 'a later route of the place was there at ready')
  assert.equal(register.policyOf(await ask('/unknown')), null)
})
