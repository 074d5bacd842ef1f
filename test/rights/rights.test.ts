import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rights } from '../../lib/rights/rights.ts'

test('a tenant whose name looks like no tenant gives no rights where there is none', () => {
  const rights = new Rights({ null: ['x:y'], undefined: ['x:y'] }, {})
  assert.deepEqual([...rights.in(null)], [])
  assert.deepEqual([...rights.in('null')], ['x:y'])
})

test('its size counts its tenants, and for four of them the longest list and that of *', () => {
  for (const [resources, items] of [
    [{}, 0],
    [{ a: [] }, 1],
    [{ a: ['x:y'], b: ['x:y', 'z:y'], '*': ['x:y'] }, 3 + 4 * (2 + 1)],
  ] as const) {
    assert.equal(new Rights(resources, {}).keptSize, items * 56)
  }
})

test('no method of rights can be replaced', () => {
  assert.equal(Object.isFrozen(Rights.prototype), true)
})
