import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { Route } from '../../lib/routes/route.ts'
import { applicationRoutes } from '../../lib/routes/route-capture.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

const handler = async () => 'x'

function taken(app: FastifyInstance): readonly Route[] {
  return (applicationRoutes(app) ?? []).flatMap((route) => route.routes)
}

/** Routes that Fastify is asked to add beside `GET /x`, and whether a part of each is added. */
const REFUSED: readonly [what: string, route: object, isHalf: boolean][] = [
  ['the same route', { method: 'GET', url: '/x' }, false],
  [
    'a list of methods that begins with the taken one',
    { method: ['GET', 'PUT'], url: '/x' },
    false,
  ],
  ['a list of methods that ends with the taken one', { method: ['PUT', 'GET'], url: '/x' }, true],
  ['a list that names a method twice', { method: ['PUT', 'PUT'], url: '/y' }, true],
  ['an optional parameter', { method: 'GET', url: '/x/:id?' }, true],
]

for (const [what, route, isHalf] of REFUSED) {
  test(`${what} is ${isHalf ? 'added in part' : 'refused whole'}, and has no methods`, (t) => {
    const app = bareApp(t, { exposeHeadRoutes: false })
    app.get('/x', handler)
    assert.throws(() => app.route({ method: 'GET', url: '/', ...route, handler }))
    const refused = taken(app)[1]
    assert.deepEqual([refused?.isHalfAdded, refused?.routedMethods], [isHalf, []])
    assert.deepEqual(taken(app)[0]?.routedMethods, ['GET'])
  })
}

test('routes that differ only by a constraint are both added', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.get('/x', handler)
  app.get('/x', { constraints: { version: '2.0.0' } }, handler)
  assert.deepEqual(
    taken(app).map((route) => [route.isHalfAdded, route.routedMethods, route.constraints]),
    [
      [false, ['GET'], {}],
      [false, ['GET'], { version: '2.0.0' }],
    ],
  )
})

test('a route keeps copies of what it was taken with', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const [require, method, constraints] = [['a:b'], ['GET'], { host: 'a.test' }]
  app.route({ method, url: '/x', config: { require }, constraints, handler })
  require[0] = 'c:d'
  method.push('PUT')
  constraints.host = 'b.test'
  const [route] = taken(app)
  assert.deepEqual(route?.declared.requirement, { mode: 'all', ids: ['a:b'] })
  assert.deepEqual([route?.methods, route?.constraints], [['GET'], { host: 'a.test' }])
})

/** Live configs of a route that was taken with `{ require: 'a:b' }`. */
const LIVE: readonly [config: object, agrees: boolean][] = [
  [{ require: 'a:b' }, true],
  [{ require: 'a:b', url: '/y', own: 1 }, true],
  [{}, false],
  [{ require: 'a:b', noauth: true }, false],
  [{ require: ['a:b'] }, false],
]

test('a live config agrees with a route if our keys are as they were', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.get('/x', { config: { require: 'a:b' } }, handler)
  const [route] = taken(app)
  assert.deepEqual(
    LIVE.map(([config]) => route?.agreesWith(config)),
    LIVE.map(([, agrees]) => agrees),
  )
})

test('a route says what it declares, or what is wrong with it', (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const configs: object[] = [
    {},
    { noauth: true },
    { require: 'a:b', tenant: true },
    { requires: 1 },
  ]
  for (const [index, config] of configs.entries()) app.get(`/${index}`, { config }, handler)
  assert.deepEqual(
    taken(app).map(({ declares }) => declares),
    [[], [], ['declares tenant, require'], ['requires looks like require']],
  )
})
