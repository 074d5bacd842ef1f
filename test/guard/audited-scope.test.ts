import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditedScope } from '../../lib/guard/audited-scope.ts'
import { installedGuards } from '../../lib/guard/scopes.ts'
import tenantAuth from '../../lib/index.ts'
import { bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'

const handler = async () => 'x'
const RULES = { tenantParameter: 'tenant' }

test('one of two guarded scopes is seen with what both of them guard', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  for (const name of ['one', 'two']) {
    await app.register(async (child) => {
      await child.register(tenantAuth, trusting({ uncovered: 'ignore' }))
      child.get(`/${name}`, handler)
    })
  }
  app.get('/open', handler)
  assert.throws(() => app.get('/open', handler), /already declared/)
  await app.ready()
  const [one, two] = installedGuards(app).map(({ register }) => register)
  assert.ok(one && two, 'both scopes are guarded')
  const audited = auditedScope(one, RULES)
  assert.deepEqual([audited.scope === one.scope, audited.isRoot], [true, false])
  assert.deepEqual(audited.earlyProblems, [])
  assert.deepEqual([audited.seen.map(({ url }) => url), audited.early], [['/one'], []])
  const { application = [] } = audited
  assert.deepEqual(
    application.map((route) => [route.url, audited.isCovered(route)]),
    [
      ['/one', true],
      ['/two', true],
      ['/open', false],
    ],
  )
})

test('look-alikes of the tenant segment are found, and decorations of our names', async (t) => {
  const app = await guardedApp(t)
  await app.ready()
  const [guard] = installedGuards(app)
  assert.ok(guard, 'the application is guarded')
  const audited = auditedScope(guard.register, RULES)
  assert.equal(audited.isRoot, true)
  assert.deepEqual(audited.mistaken('/:tenant/x'), [])
  assert.match(audited.mistaken('/:tenantId/x').join(), /:tenantId looks like the tenant segment/)
  class Decorated {
    get tenant() {
      return 'other'
    }
  }
  const scope = { [Symbol('fastify.Request')]: Decorated }
  assert.deepEqual(audited.redecorated(Object.assign(Object.create(app), scope)), ['tenant'])
  assert.deepEqual(audited.redecorated(app), [])
})
