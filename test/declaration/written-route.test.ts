import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { applicationRoutes } from '../../lib/declaration/application-routes.ts'
import { CLOSED } from '../../lib/declaration/policy.ts'
import { hintsOf } from '../../lib/declaration/route-hints.ts'
import { markIn, type WrittenRoute } from '../../lib/declaration/written-route.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

const params = { type: 'object', properties: { id: { type: 'integer' } } }

test('a route that is settled lets its options go, but for its place and its hints', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const constraints = { version: '1.0.0' }
  const config = { require: 'a:b' }
  app.get('/x/:id', { config, constraints, schema: { params } }, async () => 'x')
  const [route] = applicationRoutes(app) ?? []
  assert.ok(route, 'the route is known')
  assert.equal(Reflect.get(route.config, 'require'), 'a:b')
  assert.deepEqual([route.policy, hintsOf(route).params], [undefined, undefined])
  const options = route.settle(CLOSED)
  assert.equal(Reflect.get(options.config ?? {}, 'require'), 'a:b')
  assert.deepEqual(route.config, {})
  assert.deepEqual([route.methods, route.url, route.constraints], [['GET'], '/x/:id', constraints])
  assert.equal(route.policy, CLOSED)
  assert.deepEqual(hintsOf(route).params, params)
})

/** The last route of an application, which Fastify may have refused to add. */
function lastRoute(app: FastifyInstance): WrittenRoute {
  const route = applicationRoutes(app)?.at(-1)
  assert.ok(route, 'a route is known')
  return route
}

test('a list of methods that the application changes later changes no route', (t) => {
  const app = bareApp(t)
  const method = ['PUT', 'DELETE']
  app.route({ method, url: '/x', handler: async () => 'x' })
  method.push('PATCH')
  assert.deepEqual(lastRoute(app).methods, ['PUT', 'DELETE'])
})

test('what was wrong with a config as it was written is known after it was copied', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.addHook('onRoute', (options) => {
    options.config = { ...options.config }
  })
  const config = Object.create({ require: 'a:b' })
  app.get('/x', { config }, async () => 'x')
  const route = lastRoute(app)
  assert.deepEqual([route.config, [...route.hidden]], [{}, [['require', 'inherited']]])
})

test('a config that is null declares nothing', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.get('/x', JSON.parse('{"config":null}'), async () => 'x')
  assert.deepEqual([lastRoute(app).config, lastRoute(app).declares], [{}, []])
})

/** A route that is written after another one, and what the router has of it then. */
const LATER: readonly {
  what: string
  before: string
  url: string
  method: string[]
  free: string[]
  routed: string[]
  isHalfAdded: boolean
}[] = [
  {
    ...{ what: 'a route at another place', before: '/a', url: '/b', method: ['GET'] },
    ...{ free: ['GET'], routed: ['GET'], isHalfAdded: false },
  },
  {
    ...{ what: 'a route at the same place', before: '/a', url: '/a', method: ['GET'] },
    ...{ free: [], routed: [], isHalfAdded: false },
  },
  {
    ...{
      what: 'one whose second method is taken',
      before: '/a',
      url: '/a',
      method: ['PUT', 'GET'],
    },
    ...{ free: ['PUT'], routed: ['PUT'], isHalfAdded: true },
  },
  {
    ...{ what: 'one whose first method is taken', before: '/a', url: '/a', method: ['GET', 'PUT'] },
    ...{ free: ['PUT'], routed: [], isHalfAdded: false },
  },
  {
    ...{ what: 'one whose second path is taken', before: '/a', url: '/a/:x?', method: ['GET'] },
    ...{ free: ['GET'], routed: ['GET'], isHalfAdded: true },
  },
  {
    ...{ what: 'one whose first path is taken', before: '/a/:x', url: '/a/:x?', method: ['GET'] },
    ...{ free: ['GET'], routed: [], isHalfAdded: false },
  },
]

for (const { what, before, url, method, free, routed, isHalfAdded } of LATER) {
  test(`${what} is ${isHalfAdded ? '' : 'not '}half added`, (t) => {
    const app = bareApp(t, { exposeHeadRoutes: false })
    app.get(before, async () => 'before')
    const add = () => app.route({ method, url, handler: async () => 'later' })
    if (before === url || url.endsWith('?')) assert.throws(add, /already declared/)
    else add()
    const route = lastRoute(app)
    assert.deepEqual([route.freeMethods, route.routedMethods], [free, routed])
    assert.equal(route.isHalfAdded, isHalfAdded)
  })
}

test('hooks of the guard stand before those of the route, which all stay', async (t) => {
  const first = async () => {}
  const [own, other] = [async () => {}, async () => {}]
  for (const given of [undefined, own, [own, other]]) {
    const app = bareApp(t, { exposeHeadRoutes: false })
    const hooks = given && { onRequest: given }
    app.get('/x', { ...hooks }, async () => 'x')
    const route = lastRoute(app)
    route.prependOnRequest(first)
    const { onRequest } = route.settle(CLOSED)
    const owns = [given ?? []].flat()
    assert.deepEqual(onRequest, [first, ...owns])
  }
})

test('a mark is one that a route has made', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.addHook('onRoute', (options) => lastRoute(app).mark(options))
  app.get('/x', { config: { public: true } }, async () => 'x')
  const route = lastRoute(app)
  assert.equal(markIn({ ...route.config }), route)
  const [mark] = Object.getOwnPropertySymbols(route.config)
  assert.ok(mark, 'the config is marked')
  for (const value of [null, 'x', {}, Object.create(null)]) {
    assert.equal(markIn({ ...route.config, [mark]: value }), undefined)
  }
  assert.equal(markIn({}), undefined)
})
