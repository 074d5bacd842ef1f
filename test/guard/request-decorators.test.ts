import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decoratorConflicts, readsDeclared } from '../../lib/guard/request-decorators.ts'
import tenantAuth from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'

const KEYS = ['tenant', 'userInfo', 'resources', 'authorization'] as const

test('before the decision a request gives nothing, and what is assigned to it is not kept', async (t) => {
  const app = bareApp(t)
  const seen: unknown[] = []
  app.addHook('onRequest', async (request) => {
    for (const key of KEYS) {
      Object.assign(request, { [key]: 'other' })
      seen.push(request[key])
    }
  })
  await app.register(tenantAuth, trusting())
  app.get('/x', { config: { userInfo: true } }, async ({ userInfo }) => userInfo.sub)
  const response = await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual([response.body, seen], ['test-user', KEYS.map(() => undefined)])
})

test('after the decision an assignment to a property of ours fails, and names it', async (t) => {
  const app = await guardedApp(t)
  const thrown: unknown[] = []
  app.get('/x', async (request) => {
    for (const key of KEYS) {
      assert.throws(
        () => Object.assign(request, { [key]: 'other' }),
        (error) => error instanceof TypeError && error.message === `request.${key} is read-only`,
      )
      thrown.push(key)
    }
  })
  await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual(thrown, KEYS)
})

test('a request reads as declared unless one of our properties is hidden', async (t) => {
  const app = await guardedApp(t)
  const read: boolean[] = []
  app.get('/x', async (request) => {
    read.push(readsDeclared(request), readsDeclared(Object.create(request)))
    for (const key of KEYS) {
      read.push(readsDeclared(Object.create(request, { [key]: { value: 'other' } })))
    }
  })
  await app.inject({ url: '/x', headers: await as() })
  assert.deepEqual(read, [true, true, false, false, false, false])
  assert.equal(readsDeclared(Object.create(null)), false)
})

/** A scope with this in place of its constructor of requests. */
function scopeWith(value: unknown) {
  return Object.assign(Object.create(null), { [Symbol('fastify.Request')]: value })
}

test('a scope without a usable constructor of requests has no conflict', (t) => {
  const app = bareApp(t)
  const named = Object.assign(class {}, { props: [{ key: 'tenant', value: null }] })
  const arrow = Object.setPrototypeOf(() => {}, named)
  for (const value of [undefined, null, {}, () => {}, arrow, class {}]) {
    assert.deepEqual(decoratorConflicts(app, scopeWith(value)), [])
  }
  assert.deepEqual(decoratorConflicts(app, Object.create(null)), [])
})

test('names are found in a constructor that does not descend from that of the guarded scope', (t) => {
  class Other {
    static props = [{ key: 'tenant', value: null }, null, 'x']
    get resources() {
      return 'x'
    }
  }
  assert.deepEqual(decoratorConflicts(bareApp(t), scopeWith(Other)), ['tenant', 'resources'])
})
