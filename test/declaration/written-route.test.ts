import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationRoutes } from '../../lib/declaration/application-routes.ts'
import { CLOSED } from '../../lib/declaration/policy.ts'
import { hintsOf } from '../../lib/declaration/route-hints.ts'
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
