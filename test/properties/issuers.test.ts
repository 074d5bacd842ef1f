import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { authorizationOf } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { holds } from '../helpers/arbitraries/property.ts'

const own = await createTestAuthority({ issuer: 'https://login.test', audience: 'lunch' })

const TENANTS = ['acme', 'acme-test', 'other', '__proto__']

const names = fc.constantFrom(...TENANTS, '*', 'constructor')
const ids = fc.array(fc.constantFrom('menu:read', 'note:read', 'authz:superuser'), { maxLength: 3 })
const grants = fc.uniqueArray(fc.tuple(names, ids), { selector: ([name]) => name, maxLength: 4 })
const pins = fc.oneof(
  fc.constant<'*'>('*'),
  fc.uniqueArray(fc.constantFrom(...TENANTS), { minLength: 1 }),
)

/** What a user may do, written down again in the plainest way. */
function allowed(pin: '*' | string[], granted: Map<string, string[]>, tenant: string | null) {
  const everywhere = granted.get('*') ?? []
  if (tenant === null) return pin === '*' ? everywhere : []
  if (pin === '*' && everywhere.includes('authz:superuser')) return ['menu:read']
  if (!granted.has(tenant) || (pin !== '*' && !pin.includes(tenant))) return null
  return [...(granted.get(tenant) ?? []), ...everywhere]
}

test('a request succeeds only where its own issuer serves the tenant', async (t) => {
  const property = fc.asyncProperty(
    fc.array(pins, { minLength: 2, maxLength: 3 }),
    grants,
    async (pinsOfAll, granted) => {
      const app = bareApp(t)
      const issuers = pinsOfAll.map((tenants, i) => ({
        ...own.issuerRules({ tenants }),
        issuer: `https://${i}.test`,
      }))
      await app.register(tenantAuth, { issuers, superuserResource: 'authz:superuser' })
      app.get('/needs/:tenant', { config: { require: 'menu:read' } }, async (request) => {
        const authorization = authorizationOf(request)
        return { tenants: [...(authorization?.tenants ?? [])] }
      })
      app.get('/global', { config: { require: 'menu:read' } }, async () => 'held')
      const resources = Object.fromEntries(granted)
      for (const [i, pin] of pinsOfAll.entries()) {
        const headers = await own.headers({ resources }, { issuer: `https://${i}.test` })
        for (const tenant of TENANTS) {
          const held = allowed(pin, new Map(granted), tenant)
          const response = await app.inject({ url: `/needs/${tenant}`, headers })
          const expected = held === null ? 403 : held.includes('menu:read') ? 200 : 403
          assert.equal(response.statusCode, expected, `${outcome(response)} ${tenant}`)
          if (expected === 200 && pin !== '*') {
            const { tenants } = response.json()
            const found = tenants.filter((name: string) => !pin.includes(name))
            assert.deepEqual(found, [])
          }
        }
        const isGlobal = allowed(pin, new Map(granted), null)
        const holdsAll = isGlobal?.includes('authz:superuser') || isGlobal?.includes('menu:read')
        const response = await app.inject({ url: '/global', headers })
        assert.equal(response.statusCode, holdsAll ? 200 : 403)
      }
    },
  )
  await holds(t, property)
})
