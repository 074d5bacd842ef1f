import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Rights } from '../../lib/rights/rights.ts'

test('a tenant whose name looks like no tenant gives no rights where there is none', () => {
  const rights = new Rights({ null: ['x:y'], undefined: ['x:y'] }, {})
  assert.deepEqual([...rights.in(null)], [])
  assert.deepEqual([...rights.in('null')], ['x:y'])
})

test('no method of rights can be replaced', () => {
  assert.equal(Object.isFrozen(Rights.prototype), true)
})
