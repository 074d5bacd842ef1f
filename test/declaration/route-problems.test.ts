import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applicationRoutes } from '../../lib/declaration/application-routes.ts'
import { routeProblems } from '../../lib/declaration/route-problems.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

const handler = async () => 'x'

test('what is wrong with a route is told on one line, and once for it and its HEAD twin', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: true })
  app.get('/one', handler)
  app.post('/two', handler)
  app.head('/two', handler)
  app.route({ method: ['PUT', 'PATCH'], url: '/three', handler })
  const routes = applicationRoutes(app)?.flatMap(({ taken }) => taken) ?? []
  const alike = routes.map((route) => ({ route, found: 'wrong' }))
  assert.deepEqual(routeProblems(alike), [
    'GET /one: wrong',
    'POST /two: wrong',
    'HEAD /two: wrong',
    'PUT, PATCH /three: wrong',
  ])
  const apart = routes.slice(0, 2).map((route) => ({ route, found: route.methods.join() }))
  assert.deepEqual(routeProblems(apart).sort(), ['GET /one: GET', 'HEAD /one: HEAD'])
  assert.deepEqual(routeProblems([]), [])
})
