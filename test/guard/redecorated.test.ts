import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redecorated } from '../../lib/guard/redecorated.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'

/** A scope with this in place of its constructor of requests. */
function scopeWith(value: unknown) {
  return Object.assign(Object.create(null), { [Symbol('fastify.Request')]: value })
}

test('a scope without a usable constructor of requests tells of no name', (t) => {
  const app = bareApp(t)
  for (const value of [undefined, null, {}, () => {}]) {
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
