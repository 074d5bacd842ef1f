import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertGuarded } from '../../lib/entrypoints/testing/index.ts'
import { as, authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

const NAMES = ['projectId', 'tenant_id', 'x.y-z', 'toString', '__proto__', 'x'.repeat(64)]

for (const tenantQuery of NAMES) {
  test(`the tenant is in ?${tenantQuery}=, and ?tenant= says nothing`, async (t) => {
    const app = await guardedApp(t, { tenantQuery }, { exposeHeadRoutes: false })
    app.get('/x', { config: { tenant: 'required' } }, async ({ tenant }) => tenant)
    app.get('/:tenant/y', async () => 'path')
    const headers = await as()
    const asked = async (query: string, path = '/x') =>
      outcome(await app.inject({ url: `${path}?${query}`, headers }))
    assert.equal(await asked(`${tenantQuery}=lazy-raccoon`), '200')
    assert.equal(await asked(`${tenantQuery}=lazy-raccoon&tenant=other`), '200')
    assert.equal(await asked('tenant=lazy-raccoon'), '400 ERR_AUTH_TENANT_MISSING')
    assert.equal(await asked(`${tenantQuery}=other`), '403 ERR_AUTH_TENANT_FORBIDDEN')
    assert.equal(await asked(`${tenantQuery}=a&${tenantQuery}=b`), '400 ERR_AUTH_TENANT_INVALID')
    assert.equal(await asked(`${tenantQuery}=other`, '/lazy-raccoon/y'), '200', 'a segment wins')
    await assertGuarded(app, authority)
    const paths = { '/x': { get: {} }, '/{tenant}/y': { get: {} } }
    const names = Object.values(app.authService.openapi({ paths }).paths).flatMap(({ get }) =>
      Reflect.get(get, 'parameters')
        .map(Object.values)
        .map(([name, place]: string[]) => [name, place]),
    )
    assert.deepEqual(names, [
      [tenantQuery, 'query'],
      ['tenant', 'path'],
    ])
  })
}

test('in dev mode, too', async (t) => {
  const app = await guardedApp(t, { tenantQuery: 'projectId', devMode: true })
  app.get('/x', { config: { tenant: true } }, async ({ tenant }) => `${tenant}`)
  assert.equal((await app.inject('/x?projectId=test-tenant&tenant=default')).body, 'test-tenant')
  assert.equal((await app.inject('/x?tenant=default')).body, 'null')
})
