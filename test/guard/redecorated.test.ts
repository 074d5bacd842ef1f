import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redecorated } from '../../lib/guard/request-decorators.ts'
import { bareApp, guardedApp } from '../helpers/app/guarded-app.ts'

/** A scope with this in place of its constructor of requests. */
function scopeWith(value: unknown) {
  return Object.assign(Object.create(null), { [Symbol('fastify.Request')]: value })
}

test('a scope without a usable constructor of requests tells of no name', (t) => {
  const app = bareApp(t)
  const named = Object.assign(class {}, { props: [{ key: 'tenant', value: null }] })
  const arrow = Object.setPrototypeOf(() => {}, named)
  for (const value of [undefined, null, {}, () => {}, arrow, class {}]) {
    assert.deepEqual(redecorated(app, scopeWith(value)), [])
  }
  assert.deepEqual(redecorated(app, Object.create(null)), [])
})

test('names are found in a constructor that does not descend from that of the guarded scope', (t) => {
  class Other {
    static props = [{ key: 'tenant', value: null }, null, 'x']
    get resources() {
      return 'x'
    }
  }
  assert.deepEqual(redecorated(bareApp(t), scopeWith(Other)), ['tenant', 'resources'])
})

test('a scope below a guard that decorates with no name of ours has none of them', async (t) => {
  const app = await guardedApp(t)
  assert.deepEqual(redecorated(app, app), [])
  await app.register(async (child) => {
    child.decorateRequest('other', null)
    await child.register(async (inner) => {
      inner.decorateRequest('more', () => 'other')
      assert.deepEqual([redecorated(app, child), redecorated(app, inner)], [[], []])
    })
  })
  await app.ready()
})
