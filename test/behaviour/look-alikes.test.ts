import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth, { type RouteDeclaration } from '../../lib/index.ts'
import { assertRouteInvalid } from '../helpers/app/config-error.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'

const handler = async () => 'x'

/** The name of the tenant parameter, and paths with a parameter that looks like it. */
const MISTAKEN: readonly [path: string, parameter: string, tenantParameter: string][] = [
  ['/orgs/:tenantId/secrets', 'tenantId', 'tenant'],
  ['/:tenant_id', 'tenant_id', 'tenant'],
  ['/:tenant_name/x', 'tenant_name', 'tenant'],
  ['/:tenantSlug/x', 'tenantSlug', 'tenant'],
  ['/:tenantKey/x', 'tenantKey', 'tenant'],
  ['/:Tenant/x', 'Tenant', 'tenant'],
  ['/:TENANT', 'TENANT', 'tenant'],
  ['/:tenent/x', 'tenent', 'tenant'],
  ['/:tenants/x', 'tenants', 'tenant'],
  ['/:tenentId/x', 'tenentId', 'tenant'],
  ['/a/:tenantId(^\\w+$)/x', 'tenantId', 'tenant'],
  ['/a/:tenantId?', 'tenantId', 'tenant'],
  ['/:id-:tenantId', 'tenantId', 'tenant'],
  ['/:orgId/x', 'orgId', 'org'],
  ['/:org_slug/x', 'org_slug', 'org'],
  ['/:Org/x', 'Org', 'org'],
  ['/:tenant/x', 'tenant', 'org'],
  ['/:tenantId/x', 'tenantId', 'org'],
  ['/:tenantId/x', 'tenantId', 'tenant_id'],
  ['/:spaces/x', 'spaces', 'space'],
  ['/:org/x', 'org', 'orgId'],
  ['/:orgSlug/x', 'orgSlug', 'orgId'],
  ['/:company/x', 'company', 'company_id'],
  ['/:companyId/x', 'companyId', 'companySlug'],
  ['/:customers/x', 'customers', 'customerId'],
]

for (const [path, parameter, tenantParameter] of MISTAKEN) {
  const problem = `:${parameter} looks like the tenant segment, which is :${tenantParameter}; rename it, or set tenantParameter`

  for (const tenant of [true, 'required', 'optional'] as const) {
    test(`${path} that declares tenant ${tenant} stops the boot, where the parameter is ${tenantParameter}`, async (t) => {
      const app = await guardedApp(t, { tenantParameter })
      app.get(path, { config: { tenant } }, handler)
      await assertRouteInvalid(app, `GET ${path}: ${problem}`)
    })
  }

  test(`${path} without a declaration causes a warning, where the parameter is ${tenantParameter}`, async (t) => {
    const { logger, lines } = logLines()
    const app = await guardedApp(t, { tenantParameter }, { logger, exposeHeadRoutes: false })
    app.get(path, { config: { userInfo: true } }, handler)
    app.get(`/also${path}`, handler)
    app.get(`/open${path}`, { config: { noauth: true } }, handler)
    await app.ready()
    const [line, ...more] = lines('looks like the tenant')
    assert.deepEqual(line?.['routes'], [`GET ${path}`, `GET /also${path}`])
    assert.deepEqual(more, [])
  })
}

/** Paths with a tenant segment, or without anything like one. */
const PLAIN: readonly [path: string, tenantParameter: string][] = [
  ['/:tenant/x/:tenantId', 'tenant'],
  ['/:id/x', 'tenant'],
  ['/:tenantsOfMine/x', 'tenant'],
  ['/:lieutenant/x', 'tenant'],
  ['/:idTenant/x', 'tenant'],
  ['/:tenantCode/x', 'tenant'],
  ['/:tenents/x', 'tenant'],
  ['/:teams/x', 'team'],
  ['/::tenantId/x', 'tenant'],
  ['/tenantId', 'tenant'],
  ['/:org/x/:tenantId', 'org'],
  ['/:orgs/x', 'org'],
  ['/:bug/x', 'org'],
]

for (const [path, tenantParameter] of PLAIN) {
  test(`${path} with tenant true causes no warning, where the parameter is ${tenantParameter}`, async (t) => {
    const { logger, messages } = logLines()
    const app = await guardedApp(t, { tenantParameter }, { logger })
    app.get(path, { config: { tenant: true } }, handler)
    await app.ready()
    assert.deepEqual(messages(40), [])
  })
}

test('an early route with a look-alike lets no user in', async (t) => {
  const app = bareApp(t)
  const config: RouteDeclaration = { tenant: 'required' }
  app.get('/orgs/:tenantId/secrets', { config }, async () => 'never')
  await app.register(tenantAuth, trusting())
  const url = '/orgs/other/secrets?tenant=lazy-raccoon'
  const found = outcome(await app.inject({ url, headers: await as() }))
  assert.equal(found, '403 ERR_AUTH_RESOURCE_MISSING')
})

test('tenantParameter names the path parameter, and the query keeps a name of its own', async (t) => {
  const app = await guardedApp(t, { tenantParameter: 'org' })
  const config = { tenant: 'required' } as const
  app.get('/orgs/:org/x', { config }, async ({ tenant }) => tenant)
  app.get('/x', { config }, async ({ tenant }) => tenant)
  const headers = await as()
  const get = async (url: string) => {
    const response = await app.inject({ url, headers })
    return response.statusCode === 200 ? response.body : outcome(response)
  }
  assert.equal(await get('/orgs/lazy-raccoon/x'), 'lazy-raccoon')
  assert.equal(await get('/orgs/lazy-raccoon/x?tenant=other'), 'lazy-raccoon')
  assert.equal(await get('/orgs/other/x?tenant=lazy-raccoon'), '403 ERR_AUTH_TENANT_FORBIDDEN')
  assert.equal(await get('/x?tenant=lazy-raccoon'), 'lazy-raccoon')
  assert.equal(await get('/x?org=lazy-raccoon'), '400 ERR_AUTH_TENANT_MISSING')
  const [listed] = app.authService.routes()
  assert.deepEqual([listed?.url, listed?.tenant], ['/orgs/:org/x', 'path'])
})
