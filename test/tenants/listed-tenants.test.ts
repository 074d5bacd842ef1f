import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ListedTenants } from '../../lib/tenants/listed-tenants.ts'

test('a list knows the tenants on it, and no others', () => {
  const known = new ListedTenants(['real', 'real', 'quiet-otter'])
  known.open()
  assert.equal(known.isReady, true)
  assert.deepEqual(
    ['real', 'quiet-otter'].map((name) => known.has(name)),
    [true, true],
  )
  for (const name of ['ghost', 'Real', 'constructor', '__proto__', '', 'length', '0']) {
    assert.equal(known.has(name), false, name)
  }
  known.close()
})

test('the list is copied', () => {
  const names = ['real']
  const known = new ListedTenants(names)
  names.push('ghost')
  assert.equal(known.has('ghost'), false)
})
