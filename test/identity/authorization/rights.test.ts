import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Principal } from '../../../lib/identity/authorization/principal.ts'
import {
  type AllowedTenants,
  pinnedResources,
  Rights,
} from '../../../lib/identity/authorization/rights.ts'
import type { UserInfo } from '../../../lib/identity/jwt/user-info.ts'
import { holds } from '../../helpers/arbitraries/property.ts'

const VOUCHED = { exp: 1_900_000_000, issuer: null, actors: [] }
const RULES = { superuserResource: 'authz:superuser' }

const principalOf = (claims: UserInfo, pin: AllowedTenants) =>
  Principal.of(claims, VOUCHED, RULES, pin)

const pinned = (claims: UserInfo, pin: AllowedTenants) => principalOf(claims, pin).userInfo

const user = (json: string): UserInfo => ({ sub: 'u', resources: JSON.parse(json) })

const PINNED: [what: string, resources: string, kept: string][] = [
  ['its own tenant stays', '{"a":["x:y"]}', '{"a":["x:y"]}'],
  ['another tenant goes', '{"a":["x:y"],"c":["x:y"]}', '{"a":["x:y"]}'],
  [
    'what is granted everywhere counts in each',
    '{"a":[],"b":["x:y"],"*":["x:y","z:y"]}',
    '{"a":["x:y","z:y"],"b":["x:y","z:y"]}',
  ],
  ['what is granted everywhere gives no tenant', '{"*":["x:y"]}', '{}'],
  ['nothing stays nothing', '{}', '{}'],
  [
    'a name that objects have is a name',
    '{"__proto__":["x:y"],"constructor":["x:y"]}',
    '{"__proto__":["x:y"]}',
  ],
]

for (const [what, resources, kept] of PINNED) {
  test(`of a pinned issuer's grants ${what}`, () => {
    const pin = new Set(['a', 'b', '__proto__'])
    const result = pinned(user(resources), pin)
    assert.equal(JSON.stringify(result.resources), kept)
    assert.equal(Object.isFrozen(result) && Object.isFrozen(result.resources), true)
  })
}

test('an issuer of every tenant is not pinned', () => {
  const alice = user('{"*":["x:y"],"a":[]}')
  assert.equal(pinned(alice, '*'), alice)
})

test('a user without rights stays without, and inherits none', () => {
  const alice: UserInfo = { sub: 'u' }
  assert.equal(pinned(alice, new Set(['a'])), alice)
  const heir = Object.create(
    { resources: { a: ['x:y'] } },
    { sub: { value: 'u', enumerable: true } },
  )
  assert.equal(pinned(heir, new Set(['a'])), heir)
})

test('a pin that names * as a tenant lets no issuer speak for every tenant', () => {
  const resources = pinnedResources({ '*': ['x:y'], a: [] }, new Set(['*', 'a']))
  assert.deepEqual(resources, { a: ['x:y'] })
})

test('what a pin leaves is deeply frozen, since a handler gets it', () => {
  const resources = pinnedResources({ '*': ['x:y'], a: [] }, new Set(['a']))
  assert.deepEqual([resources, resources['a']].map(Object.isFrozen), [true, true])
})

test('each grant counts in tenants of the pin alone, and only where it was granted', async (t) => {
  const names = fc.constantFrom('a', 'b', 'c', '*', '__proto__', 'constructor')
  const ids = fc.array(fc.constantFrom('x:y', 'z:y', 'authz:superuser'))
  const grants = fc.array(fc.tuple(names, ids))
  const pins = fc.uniqueArray(fc.constantFrom<string[]>('a', 'b', '__proto__'), { minLength: 1 })
  await holds(
    t,
    fc.asyncProperty(grants, pins, async (given, pin) => {
      const resources = Object.fromEntries(given)
      const kept = pinned({ sub: 'u', resources }, new Set(pin)).resources ?? {}
      for (const [tenant, held] of Object.entries(kept)) {
        assert.equal(pin.includes(tenant), true)
        const everywhere = Object.hasOwn(resources, '*') ? (resources['*'] ?? []) : []
        const granted = [...(resources[tenant] ?? []), ...everywhere]
        assert.deepEqual(new Set(held), new Set(granted))
      }
      const principal = principalOf({ sub: 'u', resources }, new Set(pin))
      assert.equal(principal.isSuperuser, false)
      assert.deepEqual([...principal.tenants], Object.keys(kept))
      assert.deepEqual([...principal.resourcesIn(null)], [])
      for (const tenant of ['a', 'b', 'c', '*', '__proto__', 'constructor']) {
        const held = Object.hasOwn(kept, tenant) ? kept[tenant] : undefined
        assert.equal(principal.find(tenant) === undefined, held === undefined, tenant)
        assert.deepEqual(new Set(principal.resourcesIn(tenant)), new Set(held), tenant)
      }
    }),
  )
})

test('a tenant whose name looks like no tenant gives no rights where there is none', () => {
  const rights = new Rights({ null: ['x:y'], undefined: ['x:y'] }, {})
  assert.deepEqual([...rights.in(null)], [])
  assert.deepEqual([...rights.in('null')], ['x:y'])
})
