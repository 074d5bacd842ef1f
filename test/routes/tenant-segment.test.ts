import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasTenantSegment } from '../../lib/routes/tenant-segment.ts'
import { bareApp } from '../helpers/guarded-app.ts'

/** A path pattern, whether it has a tenant segment, and a path that it matches. */
const PATTERNS: readonly [pattern: string, has: boolean, path: string][] = [
  ['/:tenant', true, '/a'],
  ['/:tenant/menu', true, '/a/menu'],
  ['/menu/of/:tenant', true, '/menu/of/a'],
  ['/x/:id/:tenant', true, '/x/1/a'],
  ['/:tenant?', true, '/a'],
  ['/x/:tenant?', true, '/x/a'],
  ['/:a-:tenant.json', true, '/1-a.json'],
  ['/:tenant-:id', true, '/a-1'],
  ['/:tenant.json', true, '/a.json'],
  ['/:tenant(^[a-z]+$)', true, '/a'],
  ['/:tenant(^[a-z]+$)/menu', true, '/a/menu'],
  ['/:id(^\\d+$):tenant', true, '/1a'],
  ['/:id(^(?:tenant|\\))$)/:tenant', true, '/tenant/a'],
  ['/at/:hour(^\\d+$)h:tenant(^\\w+$)m', true, '/at/1ham'],
  ['/::x/:tenant', true, '/:x/a'],
  ['/', false, '/'],
  ['/tenant', false, '/tenant'],
  ['/::tenant', false, '/:tenant'],
  ['/x::tenant', false, '/x:tenant'],
  ['/:tenants', false, '/a'],
  ['/:Tenant', false, '/a'],
  ['/:tenantId', false, '/a'],
  ['/:x_tenant', false, '/a'],
  ['/:tenant:x', false, '/a'],
  ['/:tenant_id/menu', false, '/a/menu'],
  ['/:id(^(?:tenant)$)', false, '/tenant'],
  ['/:id(^(?:tenant)$)/:x', false, '/tenant/a'],
  ['/:id(^\\w+$)tenant', false, '/atenant'],
  ['/*', false, '/tenant'],
  ['/x/*', false, '/x/:tenant'],
]

for (const [pattern, has, path] of PATTERNS) {
  test(`${pattern} has ${has ? 'a' : 'no'} tenant segment, and the router agrees`, async (t) => {
    assert.equal(hasTenantSegment(pattern, 'tenant'), has)

    const app = bareApp(t)
    app.get(pattern, async (request) => request.params)
    const response = await app.inject(path)
    assert.equal(response.statusCode, 200)
    assert.equal(Object.hasOwn(response.json(), 'tenant'), has)
  })
}

test('a regular expression that never ends hides what follows, and no router takes it', (t) => {
  assert.equal(hasTenantSegment('/:id(^((a)$/:tenant', 'tenant'), false)
  assert.throws(() => bareApp(t).get('/:id(^((a)$/:tenant', async () => 'never'))
})
