import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import type { Authorization } from '../../../lib/identity/authorization/authorization.ts'
import { Principal } from '../../../lib/identity/authorization/principal.ts'
import type { Actor } from '../../../lib/identity/jwt/registered-claims.ts'
import { readUserInfo } from '../../../lib/identity/jwt/user-info.ts'
import { errors } from '../../../lib/index.ts'

const RESOURCES = { '*': ['menu:read'], a: ['order:read', 'order:cancel'], b: ['order:read'] }
const EXP = 1_900_000_000
const ISSUER = 'https://a.test'

const ACTOR = Object.freeze({ sub: 'support', issuer: null })

function principalOf(resources: object | undefined, superuserResource?: string): Principal {
  const claims = resources === undefined ? { sub: 'u' } : { sub: 'u', resources }
  return Principal.of(
    readUserInfo(structuredClone(claims)),
    { exp: EXP, issuer: ISSUER, actors: Object.freeze([ACTOR]) },
    {
      superuserResource,
    },
  )
}

const user = principalOf(RESOURCES).in('a')
const root = principalOf({ '*': ['authz:superuser'], a: [] }, 'authz:superuser').in('any')

/** Ids, and what has and hasAny give for a user and for a superuser. */
const QUESTIONS: readonly [
  ids: string[],
  user: [has: boolean, hasAny: boolean],
  root: [has: boolean, hasAny: boolean],
][] = [
  [['order:read'], [true, true], [true, true]],
  [['menu:read'], [true, true], [true, true]],
  [
    ['order:read', 'order:cancel', 'menu:read'],
    [true, true],
    [true, true],
  ],
  [
    ['order:read', 'order:erase'],
    [false, true],
    [true, true],
  ],
  [['order:erase'], [false, false], [true, true]],
  [['toString'], [false, false], [false, false]],
  [['order'], [false, false], [false, false]],
  [
    ['order:read', 'junk'],
    [false, true],
    [false, true],
  ],
  [[''], [false, false], [false, false]],
  [[], [false, false], [false, false]],
]

for (const [ids, ofUser, ofRoot] of QUESTIONS) {
  test(`has, hasAny, require and requireAny agree about ${JSON.stringify(ids)}`, () => {
    for (const [authorization, [all, any]] of [
      [user, ofUser],
      [root, ofRoot],
    ] as const) {
      assert.equal(authorization.has(...ids), all)
      assert.equal(authorization.hasAny(...ids), any)
      const found = passes(() => authorization.require(...ids))
      assert.equal(found, all)
      const actual = passes(() => authorization.requireAny(...ids))
      assert.equal(actual, any)
    }
  })
}

function passes(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    assert.ok(error instanceof errors.ERR_AUTH_RESOURCE_MISSING, `${error}`)
    return false
  }
}

test('resources are those under * and those of the tenant; without a tenant, those under *', () => {
  const principal = principalOf(RESOURCES)
  assert.deepEqual([...principal.in('b').resources], ['menu:read', 'order:read'])
  assert.deepEqual([...principal.in(null).resources], ['menu:read'])
  assert.equal(principal.in(null).has('order:read'), false)
  assert.deepEqual([...principalOf(undefined).in(null).resources], [])
})

test('in() gives the same user in another tenant', () => {
  const there = user.in('b')
  assert.deepEqual([there.tenant, there.userInfo], ['b', user.userInfo])
  assert.deepEqual([there.has('order:cancel'), there.has('order:read')], [false, true])
  assert.equal(there.in('a').has('order:cancel'), true)
})

test('in() refuses a wrong name with 400, and a tenant that is not held with 403', () => {
  for (const name of ['', '*', 'a\n', 'a'.repeat(256)]) {
    assert.throws(() => user.in(name), { code: 'ERR_AUTH_TENANT_INVALID', statusCode: 400 })
    assert.throws(() => root.in(name), { code: 'ERR_AUTH_TENANT_INVALID', statusCode: 400 })
  }
  for (const name of ['c', 'A', 'constructor', '__proto__', 'a ']) {
    assert.throws(() => user.in(name), { code: 'ERR_AUTH_TENANT_FORBIDDEN', statusCode: 403 })
  }
  assert.equal(root.in('c').has('order:read'), true)
})

test('its JSON shows all of it, and nothing else', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(user)), {
    tenant: 'a',
    userInfo: { sub: 'u', resources: RESOURCES },
    issuer: ISSUER,
    tokenSub: 'u',
    actor: ACTOR,
    tenants: ['a', 'b'],
    resources: ['menu:read', 'order:read', 'order:cancel'],
    expiresAt: new Date(EXP * 1000).toISOString(),
  })
})

test('a stepUp() that wants nothing, or something else, is a mistake of the application', () => {
  for (const wanted of [undefined, {}, { acr: 'a b' }, { acr: [] }, { maxAge: -1 }]) {
    const stepUp = () => Reflect.apply(user.stepUp, user, [wanted])
    assert.throws(stepUp, { name: 'TypeError', message: /takes acr/ }, JSON.stringify(wanted))
  }
})

/** Changes that an application might try on an authorization. */
const CHANGES: readonly [what: string, change: (authorization: Authorization) => unknown][] = [
  ['a field', (it) => Object.assign(it, { tenant: 'b' })],
  ['a method', (it) => Object.assign(it, { has: () => true })],
  ['resources', (it) => Object.assign(it, { resources: new Set(['x:y']) })],
  ['a new field', (it) => Object.assign(it, { x: 1 })],
  ['its prototype', (it) => Object.assign(Object.getPrototypeOf(it), { has: () => true })],
  ['the user', (it) => Object.assign(it.userInfo, { sub: 'root' })],
  [
    'a nested list',
    (it) => it.userInfo.resources && Reflect.apply([].push, it.userInfo.resources['a'], ['x:y']),
  ],
  ['the tenants', (it) => Reflect.apply(Set.prototype.add, it.tenants, ['c'])],
  ['the set', (it) => Reflect.apply(Set.prototype.add, it.resources, ['x:y'])],
]

for (const [what, change] of CHANGES) {
  test(`an authorization refuses a change of ${what}`, () => {
    const authorization = principalOf(RESOURCES).in('a')
    const before = JSON.stringify(authorization)
    assert.throws(() => change(authorization), TypeError)
    assert.equal(JSON.stringify(authorization), before)
    assert.equal(authorization.has('x:y'), false)
  })
}

test('each reading of expiresAt gives a new Date', () => {
  user.expiresAt.setTime(0)
  assert.equal(user.expiresAt.getTime(), EXP * 1000)
})

/** Two authorizations that differ in one thing only. */
const DIFFERENT: readonly [what: string, a: Authorization, b: Authorization][] = [
  ['tenants', user, user.in('b')],
  ['a tenant, and none', user, principalOf(RESOURCES).in(null)],
  [
    'superuser rights',
    principalOf({ '*': ['authz:superuser'] }).in(null),
    principalOf({ '*': ['authz:superuser'] }, 'authz:superuser').in(null),
  ],
  ['resources', principalOf({ a: ['x:y'] }).in('a'), principalOf({ a: ['x:z'] }).in('a')],
  ['other tenants', principalOf({ a: [], b: [] }).in('a'), principalOf({ a: [], c: [] }).in('a')],
  ['users', ofClaims({ sub: 'u' }), ofClaims({ sub: 'v' })],
  ['claims', ofClaims({ sub: 'u', a: 1 }), ofClaims({ sub: 'u', a: 2 })],
  ['actors', ofClaims({ sub: 'u' }, EXP, ACTOR), ofClaims({ sub: 'u' })],
  ['times', ofClaims({ sub: 'u' }, EXP), ofClaims({ sub: 'u' }, EXP + 1)],
]

function ofClaims(claims: object, exp = EXP, actor: Actor | null = null): Authorization {
  return Principal.of(
    readUserInfo(claims),
    { exp, issuer: ISSUER, actors: actor ? [actor] : [] },
    {},
  ).in(null)
}

for (const [what, a, b] of DIFFERENT) {
  test(`authorizations of different ${what} are not equal`, () => {
    assert.notDeepEqual(a, b)
    assert.notEqual(inspect(a), inspect(b))
  })
}

test('authorizations of the same rights are equal, even of different principals', () => {
  assert.deepEqual(principalOf(RESOURCES).in('a'), principalOf(RESOURCES).in('a'))
})

test('its contents can be looked at, and copied', () => {
  const shown = inspect(user)
  for (const word of ['a', 'order:cancel', 'menu:read', 'isSuperuser: false', "sub: 'support'"]) {
    assert.ok(shown.includes(word), word)
  }
  assert.ok(shown.includes(`expiresAt: ${new Date(EXP * 1000).toISOString()}`), shown)
  const { tenant, userInfo, tenants, resources, expiresAt, isSuperuser } = { ...user }
  assert.deepEqual([tenant, isSuperuser, expiresAt], ['a', false, new Date(EXP * 1000)])
  assert.deepEqual([...tenants], ['a', 'b'])
  assert.deepEqual(resources, user.resources)
  assert.equal(userInfo, user.userInfo)
})

test('all that can be reached from it is frozen, except dates, which are copies', () => {
  const seen = new Set<unknown>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return
    if (value instanceof Date) return
    seen.add(value)
    assert.equal(Object.isFrozen(value), true, inspect(value))
    for (const name of Reflect.ownKeys(value)) visit(Reflect.get(value, name))
  }
  visit(user)
  visit(root)
  assert.ok(seen.size > 10, `${seen.size} objects`)
})
