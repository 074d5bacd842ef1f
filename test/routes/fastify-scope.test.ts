import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { isWithin, rootScope } from '../../lib/routes/fastify-scope.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

test('scopes know their application, and which of them is below which', async (t) => {
  const app = bareApp(t)
  const scopes: FastifyInstance[] = []
  await app.register(async (outer) => {
    scopes.push(outer)
    await outer.register(async (inner) => void scopes.push(inner))
  })
  await app.register(async (beside) => void scopes.push(beside))
  const [outer, inner, beside] = scopes
  assert.ok(outer && inner && beside, 'three scopes')
  for (const scope of [app, outer, inner, beside]) {
    assert.equal(rootScope(scope), app)
    assert.equal(isWithin(scope, scope), true)
    assert.equal(isWithin(app, scope), true)
    assert.equal(isWithin(scope, app), scope === app)
  }
  assert.equal(isWithin(outer, inner), true)
  assert.equal(isWithin(inner, outer), false)
  assert.equal(isWithin(outer, beside), false)
  assert.equal(isWithin(bareApp(t), inner), false, 'of another application')
})
