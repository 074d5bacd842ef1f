import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outcome } from '../helpers/app/refusals.ts'
import { tenantRoute } from '../helpers/app/tenant-route.ts'

const UNKNOWN = '404 ERR_AUTH_TENANT_UNKNOWN'

test('without configuration, every tenant that a user may act for exists', async (t) => {
  const get = await tenantRoute(t, {})
  assert.equal(outcome(await get('ghost')), '200')
})

test('a list knows the tenants on it, and is copied', async (t) => {
  const tenants = ['real']
  const get = await tenantRoute(t, { tenants })
  tenants.push('ghost')
  assert.equal(outcome(await get('real')), '200')
  assert.equal(outcome(await get('ghost')), UNKNOWN)
  assert.equal(outcome(await get('constructor')), UNKNOWN)
})
