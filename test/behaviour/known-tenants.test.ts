import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guardedApp } from '../helpers/app/guarded-app.ts'
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

test('in dev mode a list and a function are asked', async (t) => {
  for (const tenants of [['default'], (name: string) => name === 'default']) {
    const app = await guardedApp(t, { devMode: true, tenants })
    app.get('/:tenant/x', async () => 'x')
    assert.equal(outcome(await app.inject('/default/x')), '200')
    assert.equal(outcome(await app.inject('/test-tenant/x')), UNKNOWN)
  }
})
