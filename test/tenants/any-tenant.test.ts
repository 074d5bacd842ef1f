import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AnyTenant } from '../../lib/tenants/any-tenant.ts'

test('without configuration each tenant exists, and no request waits', () => {
  const known = new AnyTenant()
  known.open()
  assert.deepEqual([known.isReady, known.has()], [true, true])
  known.close()
})
