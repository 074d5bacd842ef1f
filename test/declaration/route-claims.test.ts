import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { applicationRoutes, writtenRoute } from '../../lib/declaration/application-routes.ts'
import { CLOSED, compilePolicy, type Policy } from '../../lib/declaration/policy.ts'
import { ownMarked, type Place, RouteClaims } from '../../lib/declaration/route-claims.ts'
import type { WrittenRoute } from '../../lib/declaration/written-route.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

const RULES = { multitenancy: true, devMode: false, tenantParameter: 'tenant' }
const PLAIN = { isEarly: false, isMarked: false }
const handler = async () => 'x'

/** Two routes of one place: an open one, and one that requires something. */
function writeTwins(app: FastifyInstance): void {
  app.get('/x', { config: { noauth: true } }, handler)
  const constraints = { version: '1.0.0' }
  app.get('/x', { config: { require: 'a:b' }, constraints }, handler)
}

async function writeRoot(app: FastifyInstance): Promise<void> {
  await app.register(async (scope) => void scope.get('/', handler), { prefix: '/in' })
}

/** The routes that are written, each with its policy, in an application that marks them, or not. */
async function start(t: TestContext, write: typeof writeRoot | typeof writeTwins, marks = false) {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.addHook('onRoute', function (options) {
    if (marks) writtenRoute(this, options).mark(options)
  })
  await write(app)
  return (applicationRoutes(app) ?? []).map((route) => ({ route, policy: policyOf(route) }))
}

function policyOf({ url, config }: WrittenRoute): Policy {
  return compilePolicy({ url, config, strict: false }, RULES).policy
}

function claimsOf(
  routes: Awaited<ReturnType<typeof start>>,
  isComplete: boolean,
  how: Partial<typeof PLAIN> = {},
): RouteClaims {
  const claims = new RouteClaims(isComplete)
  for (const { route, policy } of routes) claims.add(route, policy, { ...PLAIN, ...how })
  return claims
}

/** The config that Fastify gives the requests of a route. */
function liveOf({ writtenUrl, methods, config }: WrittenRoute) {
  return { ...config, url: writtenUrl, method: methods.join() }
}

function changed(config: Place, change: object): Place {
  return { ...config, ...change }
}

/** Two routes of one place, an open one and a closed one. */
async function startTwins(t: TestContext, marks = false) {
  const routes = await start(t, writeTwins, marks)
  const [open, closed] = routes
  assert.ok(open && closed, 'two routes are written')
  return { routes, open, closed, live: { open: liveOf(open.route), closed: liveOf(closed.route) } }
}

test('only the place of a route that was added is known', async (t) => {
  const { routes } = await startTwins(t)
  const claims = claimsOf(routes.slice(0, 1), true)
  assert.equal(claims.has({ method: 'GET', url: '/x' }), true)
  assert.equal(claims.has({ method: 'POST', url: '/x' }), false)
  assert.equal(claims.has({ method: 'GET', url: '/y' }), false)
  assert.equal(claims.claim({ method: 'GET', url: '/y' }), undefined)
})

for (const isComplete of [true, false]) {
  test(`each route is claimed once by what it declares, where all are ${isComplete ? '' : 'not '}known`, async (t) => {
    const { routes, open, closed, live } = await startTwins(t)
    const claims = claimsOf(routes, isComplete)
    const other = changed(live.open, { userInfo: true })
    assert.equal(claims.claim(other), undefined, 'none of the two declares that')
    assert.equal(claims.claim(live.open), open.policy)
    const last = isComplete ? closed.policy : undefined
    assert.equal(claims.claim(live.open), last, 'only one of the place is left')
    assert.equal(claims.claim(live.closed), isComplete ? undefined : closed.policy)
  })
}

test('a route is claimed as often as it has urls', async (t) => {
  const [root] = await start(t, writeRoot)
  assert.ok(root, 'a route is written')
  const claims = claimsOf([root], false)
  const live = liveOf(root.route)
  assert.deepEqual([claims.claim(live), claims.claim(live)], [root.policy, root.policy])
  assert.equal(claims.claim(live), undefined)
})

test('a claim that was wrong is taken back, and the right one is made', async (t) => {
  const { routes, open, closed, live } = await startTwins(t)
  const claims = claimsOf(routes, false)
  assert.equal(claims.claim(live.open), open.policy)
  claims.correct(closed.route, open.policy)
  assert.equal(claims.claim(live.closed), undefined)
  assert.equal(claims.claim(live.open), open.policy)
  assert.equal(claims.claim(live.open), undefined)
  claims.correct(open.route, closed.policy)
  assert.equal(claims.claim(live.closed), closed.policy)
})

test('a route that alone bears its mark is claimed by it, and by nothing else', async (t) => {
  const { routes, open, live } = await startTwins(t, true)
  const claims = claimsOf(routes, false, { isMarked: true })
  const { url, method } = live.open
  assert.equal(claims.claim(changed({ url, method }, { noauth: true })), undefined)
  assert.equal(claims.claim(changed(live.open, { noauth: false })), open.policy)
})

test('a mark that others bear too claims nothing', async (t) => {
  const { routes, open, closed, live } = await startTwins(t, true)
  const claims = claimsOf(routes, false)
  assert.equal(claims.claim(changed(live.open, { userInfo: true })), undefined)
  assert.equal(claims.claim(live.open), open.policy)
  assert.equal(claims.claim(live.closed), closed.policy)
})

for (const [isEarly, isSame, isOpen] of [
  [true, true, true],
  [true, false, false],
  [false, false, true],
] as const) {
  const what = `${isEarly ? 'early' : 'seen'} route is ${isOpen ? 'open' : 'closed'}`
  test(`an ${what} to a request whose config is ${isSame ? 'its own' : 'another'}`, async (t) => {
    const { open, live } = await startTwins(t)
    const claims = claimsOf([open], true, { isEarly })
    const config = isSame ? live.open : changed(live.open, { noauth: false })
    assert.equal(claims.claim(config), isOpen ? open.policy : CLOSED)
  })
}

test('an early route that is closed stays as it is, whatever its request declares', async (t) => {
  const { closed, live } = await startTwins(t)
  const claims = claimsOf([closed], true, { isEarly: true })
  assert.equal(claims.claim(changed(live.closed, { noauth: true })), closed.policy)
})

test('a route bears its own mark, unless another config has a copy of it', async (t) => {
  const { open, closed } = await startTwins(t, true)
  assert.deepEqual([...ownMarked([open.route, closed.route])], [open.route, closed.route])
  const copied = await start(
    t,
    (app) => {
      let first: object | undefined
      app.addHook('onRoute', (options) => {
        first ??= options.config
        if (options.url === '/copy') options.config = { ...first }
      })
      app.get('/x', { config: {} }, handler)
      app.get('/copy', { config: {} }, handler)
      app.get('/y', { config: {} }, handler)
      app.get('/z', handler)
    },
    true,
  )
  const routes = copied.map(({ route }) => route)
  for (const order of [routes, routes.toReversed()]) {
    assert.deepEqual(
      [...ownMarked(order)].map(({ url }) => url),
      ['/y'],
    )
  }
})
