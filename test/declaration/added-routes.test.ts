import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { addedRoutes } from '../../lib/declaration/added-routes.ts'
import { applicationRoutes } from '../../lib/declaration/application-routes.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

const handler = async () => 'x'
/** Fastify refuses the hook after it has told of the route. */
const unusable: object = { onSend: 'no function' }

function writeRefused(app: FastifyInstance, options: object = {}): void {
  assert.throws(() => app.get('/x', options, handler))
}

/** Routes, and the indexes of those that Fastify has added. */
const WRITTEN: readonly [what: string, write: (app: FastifyInstance) => void, added: number[]][] = [
  [
    'a duplicate of an earlier one',
    (app) => {
      app.get('/x', handler)
      writeRefused(app)
      app.get('/y', handler)
    },
    [0, 2],
  ],
  [
    'refused, and written again later',
    (app) => {
      writeRefused(app, unusable)
      app.get('/y', handler)
      app.get('/x', handler)
    },
    [1, 2],
  ],
  [
    'refused twice, and written again later',
    (app) => {
      writeRefused(app, unusable)
      writeRefused(app, unusable)
      app.get('/x', handler)
    },
    [2],
  ],
  [
    'like another one, with other constraints',
    (app) => {
      app.get('/x', { constraints: { version: '1.0.0' } }, handler)
      app.get('/x', { constraints: { version: '2.0.0' } }, handler)
      app.get('/x', handler)
    },
    [0, 1, 2],
  ],
]

for (const [what, write, added] of WRITTEN) {
  test(`of routes of which one is ${what} those that were added are left, in their order`, (t) => {
    const app = bareApp(t, { exposeHeadRoutes: false })
    write(app)
    const routes = applicationRoutes(app) ?? []
    const found = addedRoutes(routes).map((route) => routes.indexOf(route))
    assert.deepEqual(found, added)
  })
}
