import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Membership, Principal } from '../../../lib/identity/authorization/principal.ts'
import { DEV_LOGIN } from '../../../lib/identity/authorization/step-up.ts'
import { AddressedTenants } from '../../../lib/identity/jwt/addressed-tenants.ts'
import { readUserInfo } from '../../../lib/identity/jwt/user-info.ts'

const RESOURCES = { '*': ['menu:read'], a: ['order:read', 'order:cancel'], b: ['order:read'] }
const EXP = 1_900_000_000
const ISSUER = 'https://a.test'

function principalOf(resources: object | undefined, superuserResource?: string): Principal {
  const claims = resources === undefined ? { sub: 'u' } : { sub: 'u', resources }
  return Principal.of(
    readUserInfo(structuredClone(claims)),
    { exp: EXP, issuer: ISSUER, actors: [] },
    { superuserResource },
  )
}

function memberOf(principal: Principal, tenant: string | null): Membership {
  return principal.find(tenant) ?? assert.fail(`no member of ${tenant}`)
}

test('tenants are the own keys of resources except *', () => {
  assert.deepEqual([...principalOf(RESOURCES).tenants], ['a', 'b'])
  assert.deepEqual([...principalOf(undefined).tenants], [])
  const odd = principalOf(JSON.parse('{"__proto__":[],"*":[],"toString":[]}'))
  assert.deepEqual([...odd.tenants], ['__proto__', 'toString'])
})

test('of whom nothing is said of a login, no login is there, whatever Object.prototype has', (t) => {
  const login = { acr: 'phr', authTime: EXP, tolerance: 0 }
  Object.defineProperty(Object.prototype, 'login', { value: login, configurable: true })
  t.after(() => Reflect.deleteProperty(Object.prototype, 'login'))
  const { code, reason } = principalOf({}).loginRefusal({ acr: ['phr'], maxAge: null }) ?? {}
  assert.deepEqual([code, reason], ['ERR_AUTH_STEP_UP_REQUIRED', 'there is no acr'])
})

test('expiresAt is the exp claim, or the last moment of Date if exp is beyond it', () => {
  assert.equal(principalOf({}).expiresAt.getTime(), EXP * 1000)
  const info = readUserInfo({ sub: 'u' })
  for (const exp of [Number.POSITIVE_INFINITY, 1e300]) {
    const { expiresAt } = Principal.of(info, { exp, issuer: null, actors: [] }, {})
    assert.equal(expiresAt.getTime(), 8.64e15)
  }
})

const REASONS: readonly [resources: object | undefined, reason: RegExp][] = [
  [undefined, /: the claim resources is missing$/],
  [{}, /(?<!the claim resources is missing)$/],
  [{ '*': [] }, /(?<!the claim resources is missing)$/],
]

for (const [resources, reason] of REASONS) {
  test(`the log says whether the claim is missing, with resources ${JSON.stringify(resources)}`, () => {
    const principal = principalOf(resources)
    for (const [refused, code] of [
      [() => principal.in('a'), 'ERR_AUTH_TENANT_FORBIDDEN'],
      [() => principal.in(null).require('a:b'), 'ERR_AUTH_RESOURCE_MISSING'],
      [() => principal.in(null).requireAny('a:b', 'c:d'), 'ERR_AUTH_RESOURCE_MISSING'],
    ] as const) {
      assert.throws(refused, { code, reason })
    }
  })
}

test('rights that user info inherits do not count', () => {
  const userInfo = Object.assign(Object.create({ resources: RESOURCES }), { sub: 'u' })
  const principal = Principal.of(userInfo, { exp: EXP, issuer: null, actors: [] }, {})
  assert.deepEqual([...principal.tenants], [])
  assert.deepEqual([...principal.in(null).resources], [])
})

test('a principal cannot be changed, and no method of it can be replaced', () => {
  const principal = principalOf(RESOURCES)
  assert.deepEqual([principal, Principal.prototype].map(Object.isFrozen), [true, true])
})

test('four authorizations are kept, and a fifth takes the place of all but the first', () => {
  const principal = principalOf(RESOURCES, 'menu:read')
  const [first, second, third] = ['a', 'b', 'c', 'd'].map((tenant) => principal.in(tenant))
  assert.equal(principal.in('c'), third)
  principal.in('e')
  assert.equal(principal.in('a'), first)
  assert.notEqual(principal.in('b'), second)
  assert.equal(principal.in('e'), principal.in('e'))
})

/** In the tenant a, who holds menu:read, order:read and order:cancel. */
const REQUIREMENTS: readonly [mode: 'all' | 'any', ids: readonly string[], isMet: boolean][] = [
  ['all', ['menu:read'], true],
  ['all', ['menu:read', 'order:cancel'], true],
  ['all', ['menu:read', 'menu:write'], false],
  ['any', ['menu:write', 'order:read'], true],
  ['any', ['menu:write'], false],
  ['all', [], false],
  ['any', [], false],
]

test('a requirement is met, or is not, each time and after each other one', () => {
  const principal = principalOf(RESOURCES)
  const requirements = REQUIREMENTS.map(([mode, ids, isMet]) => ({ mode, ids, isMet }))
  const membership = memberOf(principal, 'a')
  for (const before of requirements) {
    for (const { isMet, ...requirement } of requirements) {
      membership.meets(before)
      for (let time = 0; time < 2; time++) {
        assert.equal(membership.meets(requirement), isMet, requirement.ids.join())
      }
    }
  }
})

for (const tenants of [
  ['a', 'b', 'a', null],
  ['b', 'a', 'b', 'a', null],
]) {
  test(`what is met in one tenant is not met in another one for that: ${tenants.join()}`, () => {
    const principal = principalOf(RESOURCES)
    const requirement = { mode: 'all', ids: ['order:cancel'] } as const
    for (const tenant of tenants) {
      const isMet = memberOf(principal, tenant).meets(requirement)
      assert.equal(isMet, tenant === 'a', `${tenant}`)
    }
  })
}

test('a requirement that was met last is met without a look at it', () => {
  const membership = memberOf(principalOf(RESOURCES), 'a')
  let looks = 0
  const looked = (id: string) => ({
    mode: 'all' as const,
    get ids() {
      looks++
      return [id]
    },
  })
  const [one, other, never] = ['menu:read', 'order:read', 'menu:write'].map(looked)
  assert.ok(one && other && never, 'there are three')
  for (const [requirement, count] of [
    [one, 1],
    [one, 0],
    [never, 1],
    [never, 1],
    [one, 0],
    [other, 1],
    [one, 1],
  ] as const) {
    looks = 0
    assert.equal(membership.meets(requirement), requirement !== never)
    assert.equal(looks, count)
  }
})

const LONG = 'x'.repeat(1000)
const MANY = { '*': Array(100).fill('a:b'), a: [], b: [] }
const addresses = { pattern: '', of: () => undefined, tenantOf: () => undefined }

/** What a token adds, and the bytes that it keeps alive for that at least. */
const KEPT: readonly [what: string, subject: object, sub: string, least: number][] = [
  ['claims', {}, `u${LONG}`, 2000],
  ['claims of a known size', { size: 3200 }, 'u', 2000],
  ['actors', { actors: [{ sub: LONG, issuer: null }] }, 'u', 2000],
  ['a login', { login: { acr: LONG, authTime: null, tolerance: 0 } }, 'u', 2000],
  ['tenants', { addressed: new AddressedTenants(new Set([LONG]), true, addresses) }, 'u', 2000],
  ['the login of dev mode', { login: DEV_LOGIN }, 'u', 0],
]

const keptSize = (subject: object, claims: object, pin?: ReadonlySet<string>) =>
  Principal.of(
    readUserInfo({ sub: 'u', ...claims }),
    { exp: EXP, issuer: ISSUER, actors: [], ...subject },
    {},
    pin,
  ).keptSize

test('its size is of all that it keeps alive, and of its authorizations', () => {
  const least = keptSize({}, { resources: {} })
  assert.deepEqual([least > 2000, least < 3000], [true, true], `${least}`)
  for (const [what, subject, sub, bytes] of KEPT) {
    const more = keptSize(subject, { sub, resources: {} }) - least
    assert.deepEqual([more >= bytes, more < bytes + 1000], [true, true], `${what}: ${more}`)
  }
  const pinned = keptSize({}, { resources: MANY }, new Set(['a', 'b']))
  assert.equal(pinned - keptSize({}, { resources: MANY }), 8 * 3 * 100)
})
