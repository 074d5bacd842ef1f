import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteDeclaration } from '../../lib/index.ts'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { outcome, type RefusalCode } from '../helpers/app/refusals.ts'

/**
 * Each row mends what the row before was refused for. All later steps are still wrong, in their
 * order: the tenant's name, the right to it, its existence, the requirement.
 */
const ORDER: readonly [
  url: string,
  rights: Record<string, string[]> | null,
  code: RefusalCode | null,
][] = [
  ['/x?tenant=*', null, 'ERR_AUTH_TOKEN_MISSING'],
  ['/x?tenant=*', {}, 'ERR_AUTH_TENANT_INVALID'],
  ['/x', {}, 'ERR_AUTH_TENANT_MISSING'],
  ['/x?tenant=ghost', {}, 'ERR_AUTH_TENANT_FORBIDDEN'],
  ['/x?tenant=ghost', { ghost: [] }, 'ERR_AUTH_TENANT_UNKNOWN'],
  ['/x?tenant=real', { real: [] }, 'ERR_AUTH_RESOURCE_MISSING'],
  ['/x?tenant=real', { real: ['order:erase'] }, null],
]

for (const [url, rights, code] of ORDER) {
  for (const place of ['query', 'path']) {
    const named = new URL(url, 'http://localhost').searchParams.get('tenant')
    // A path always names a tenant. If the segment is empty, the name has a wrong form.
    const expected = place === 'path' && named === null ? 'ERR_AUTH_TENANT_INVALID' : code
    const path = place === 'path' ? `/${named ?? ''}/y` : url
    test(`${path} with ${JSON.stringify(rights)}, tenant in the ${place}: ${expected ?? 'let through'}`, async (t) => {
      const app = await guardedApp(t, { tenants: ['real'] })
      const config = { tenant: true, require: 'order:erase' } as const
      app.get('/x', { config }, async (request) => request.tenant)
      app.get('/:tenant/y', { config }, async (request) => request.tenant)
      const response = await app.inject({
        url: path,
        headers: rights === null ? {} : await as(rights),
      })
      if (expected === null) assert.equal(response.body, 'real')
      else assert.equal(response.json().code, expected)
    })
  }
}

test('to a user who may not act for them, existing and missing tenants look the same', async (t) => {
  const tenants = t.mock.fn((name: string) => name === 'real')
  const app = await guardedApp(t, { tenants })
  app.get('/:tenant/x', async () => 'never')
  const headers = await as()
  const real = await app.inject({ url: '/real/x', headers })
  const ghost = await app.inject({ url: '/ghost/x', headers })
  assert.equal(outcome(real), '403 ERR_AUTH_TENANT_FORBIDDEN')
  const found = [ghost.statusCode, ghost.body, ghost.headers['www-authenticate']]
  assert.deepEqual(found, [real.statusCode, real.body, real.headers['www-authenticate']])
  assert.equal(tenants.mock.callCount(), 0)
})

/**
 * Settings, the declaration of a route without a segment, the query, and the resulting
 * request.tenant.
 */
const QUERIES: readonly [object, RouteDeclaration['tenant'], query: string, tenant: string][] = [
  [{}, true, '?tenant=lazy-raccoon', '"lazy-raccoon"'],
  [{}, true, '', '400 ERR_AUTH_TENANT_MISSING'],
  [{}, 'required', '?tenant=lazy-raccoon', '"lazy-raccoon"'],
  [{}, 'required', '', '400 ERR_AUTH_TENANT_MISSING'],
  [{}, 'optional', '?tenant=lazy-raccoon', '"lazy-raccoon"'],
  [{}, 'optional', '', 'null'],
  [{}, 'optional', '?tenant=', '400 ERR_AUTH_TENANT_INVALID'],
  [{}, 'optional', '?tenant=other', '403 ERR_AUTH_TENANT_FORBIDDEN'],
  [{}, false, '?tenant=other', 'undefined'],
  [{ multitenancy: false }, true, '?tenant=lazy-raccoon', 'null'],
  [{ multitenancy: false }, true, '?tenant=other', 'null'],
  [{ multitenancy: false }, true, '?tenant=', 'null'],
  [{ multitenancy: false }, 'optional', '?tenant=other', 'null'],
]

for (const [settings, tenant, query, expected] of QUERIES) {
  test(`settings ${JSON.stringify(settings)}, tenant ${tenant}, ${query || 'no query'}: ${expected}`, async (t) => {
    const app = await guardedApp(t, settings)
    app.get('/x', { config: { tenant } }, async (request) => ({
      tenant: String(JSON.stringify(request.tenant)),
    }))
    const response = await app.inject({ url: `/x${query}`, headers: await as() })
    assert.equal(response.statusCode === 200 ? response.json().tenant : outcome(response), expected)
  })
}

/** With a segment, multitenancy and dev mode make no difference. */
for (const [settings, tenant] of [
  [{}, 'lazy-raccoon'],
  [{ multitenancy: false }, 'lazy-raccoon'],
  [{ devMode: true, multitenancy: false }, 'test-tenant'],
] as const) {
  test(`the path's tenant counts and the query is not read, with ${JSON.stringify(settings)}`, async (t) => {
    const app = await guardedApp(t, settings)
    app.get('/:tenant/x', { config: { tenant: true } }, async (request) => request.tenant)
    app.get('/undeclared/:tenant', async () => 'x')
    app.get(
      '/maybe/:tenant?',
      { config: { tenant: 'required' } },
      async (request) => request.tenant,
    )
    const headers = await as()
    const get = async (url: string) => {
      const response = await app.inject({ url, headers })
      return response.statusCode === 200 ? response.body : outcome(response)
    }
    const queries = [
      '',
      '?tenant=other',
      `?tenant=${tenant}`,
      '?tenant=',
      '?tenant=a&tenant=b',
      '?tenant=*',
    ]
    for (const query of queries) {
      assert.equal(await get(`/${tenant}/x${query}`), tenant)
      assert.equal(await get(`/other/x${query}`), '403 ERR_AUTH_TENANT_FORBIDDEN')
      assert.equal(await get(`//x${query}`), '400 ERR_AUTH_TENANT_INVALID')
      assert.equal(await get(`/undeclared/other${query}`), '403 ERR_AUTH_TENANT_FORBIDDEN')
      assert.equal(await get(`/maybe${query}`), '400 ERR_AUTH_TENANT_MISSING')
      assert.equal(await get(`/maybe/${tenant}${query}`), tenant)
    }
  })
}
