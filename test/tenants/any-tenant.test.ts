import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnyTenant } from '../../lib/tenants/any-tenant.ts'

test('where nothing is configured, each tenant exists and nothing is waited for', () => {
  const known = new AnyTenant()
  known.open()
  assert.deepEqual([known.isReady, known.has()], [true, true])
  known.close()
})
