import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RouteDeclaration } from '../../lib/index.ts'
import { as, authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

const RIGHTS = { '*': ['menu:read'], a: ['order:read'], b: ['order:read', 'order:cancel'] }

/** A requirement, a tenant, and the ids of the challenge; null: let through. */
const REQUIREMENTS: readonly [
  require: RouteDeclaration['require'],
  tenant: string | null,
  scope: string | null,
][] = [
  [undefined, 'a', null],
  ['order:read', 'a', null],
  ['menu:read', 'a', null],
  [['order:read', 'menu:read'], 'a', null],
  ['order:cancel', 'a', 'order:cancel'],
  [['order:read', 'order:cancel'], 'a', 'order:read order:cancel'],
  [['order:read', 'order:cancel'], 'b', null],
  [{ any: ['order:cancel', 'order:read'] }, 'a', null],
  [{ any: ['order:cancel', 'order:erase'] }, 'a', 'order:cancel order:erase'],
  ['menu:read', null, null],
  ['order:read', null, 'order:read'],
  ['order:rea', 'a', 'order:rea'],
  ['order:reads', 'a', 'order:reads'],
  ['Order:read', 'a', 'Order:read'],
]

for (const [require, tenant, scope] of REQUIREMENTS) {
  const verdict = scope === null ? 'let through' : `refused for ${scope}`
  test(`require ${JSON.stringify(require)} in ${tenant}: ${verdict}`, async (t) => {
    const app = await guardedApp(t)
    const config = { require }
    app.get('/x', { config }, async () => 'x')
    app.get('/:tenant/x', { config }, async () => 'x')
    const url = tenant === null ? '/x' : `/${tenant}/x`
    const response = await app.inject({ url, headers: await as(RIGHTS) })
    if (scope === null) assert.equal(outcome(response), '200')
    else assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', scope)
  })
}

const ROOT = 'authz:superuser'

/**
 * Rights, whether superusers are configured, and the result of acting in a tenant with a
 * requirement.
 */
const SUPERUSERS: readonly [string, Record<string, string[]>, string | undefined, string][] = [
  ['held under *', { '*': [ROOT] }, ROOT, '200'],
  ['not configured', { '*': [ROOT] }, undefined, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['held in that tenant only', { real: [ROOT] }, ROOT, '403 ERR_AUTH_RESOURCE_MISSING'],
  ['held in another tenant', { a: [ROOT] }, ROOT, '403 ERR_AUTH_TENANT_FORBIDDEN'],
]

for (const [what, rights, superuserResource, expected] of SUPERUSERS) {
  test(`a superuser's resource, ${what}: ${expected}`, async (t) => {
    const superuser = superuserResource === undefined ? {} : { superuserResource }
    const app = await guardedApp(t, { ...superuser, tenants: ['real'] })
    app.get('/:tenant/x', { config: { require: ['a:b', 'c:d'] } }, async () => 'x')
    app.get('/:tenant/any', { config: { require: { any: ['a:b'] } } }, async () => 'x')
    const headers = await as(rights)
    assert.equal(outcome(await app.inject({ url: '/real/x', headers })), expected)
    assert.equal(outcome(await app.inject({ url: '/real/any', headers })), expected)
  })
}

test('a superuser learns which tenants do not exist, and meets every other rule', async (t) => {
  const app = await guardedApp(t, { superuserResource: ROOT, tenants: ['real'] })
  app.get('/:tenant/x', async () => 'never')
  app.get('/x', { config: { tenant: true } }, async () => 'never')
  const headers = await as({ '*': [ROOT] })
  const get = async (url: string) => outcome(await app.inject({ url, headers }))
  assert.equal(await get('/ghost/x'), '404 ERR_AUTH_TENANT_UNKNOWN')
  assert.equal(await get('/*/x'), '400 ERR_AUTH_TENANT_INVALID')
  assert.equal(await get('/x'), '400 ERR_AUTH_TENANT_MISSING')
})

test("a superuser's resources are literally what is granted", async (t) => {
  const app = await guardedApp(t, { superuserResource: ROOT })
  const config = { tenant: true, resources: true, authorization: true, require: 'a:b' } as const
  app.get('/:tenant/x', { config }, async ({ resources, authorization }) => ({
    resources,
    tenants: authorization.tenants,
    may: [authorization.has('a:b'), resources.has('a:b'), authorization.in('other').has('a:b')],
  }))
  const response = await app.inject({ url: '/any/x', headers: await as({ '*': [ROOT], own: [] }) })
  assert.deepEqual(response.json(), {
    resources: [ROOT],
    tenants: ['own'],
    may: [true, false, true],
  })
})

test('the order of the steps is the same if every step has to wait', async (t) => {
  const later = <T>(value: T) => new Promise<T>((resolve) => setImmediate(resolve, value))
  const app = await guardedApp(t, {
    isRevoked: () => later(false),
    resolveTenant: (request) => later(String(request.headers['x-tenant'])),
    tenants: (name) => later(name !== 'ghost'),
  })
  const config = { tenant: true, require: 'order:cancel' } as const
  app.get('/x', { config }, async (request) => request.tenant)
  const user = await as({ ...RIGHTS, ghost: [] })
  const get = (tenant: string) =>
    app.inject({ url: '/x', headers: { ...user, 'x-tenant': tenant } })
  assertRefused(await get('*'), 'ERR_AUTH_TENANT_INVALID')
  assertRefused(await get('other'), 'ERR_AUTH_TENANT_FORBIDDEN')
  assertRefused(await get('ghost'), 'ERR_AUTH_TENANT_UNKNOWN')
  assertRefused(await get('a'), 'ERR_AUTH_RESOURCE_MISSING', 'order:cancel')
  assert.equal((await get('b')).body, 'b')
})

test('a user without a resources claim has no rights, and may use routes without a tenant', async (t) => {
  const app = await guardedApp(t)
  app.get('/:tenant/x', async () => 'never')
  app.get('/needy', { config: { require: 'menu:read' } }, async () => 'never')
  const config = { resources: true, authorization: true } as const
  app.get('/x', { config }, async ({ resources, authorization }) => ({
    resources,
    tenants: authorization.tenants,
  }))
  const headers = await authority.headers()
  const get = (url: string) => app.inject({ url, headers })
  assert.deepEqual((await get('/x')).json(), { resources: [], tenants: [] })
  assertRefused(await get('/a/x'), 'ERR_AUTH_TENANT_FORBIDDEN')
  assertRefused(await get('/needy'), 'ERR_AUTH_RESOURCE_MISSING', 'menu:read')
})
