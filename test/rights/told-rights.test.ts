import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Principal } from '../../lib/rights/principal.ts'
import { ToldRights } from '../../lib/rights/told-rights.ts'

const VOUCHED = { exp: 1_900_000_000, issuer: 'https://a.test', actor: null }
const userOf = (resources: Record<string, string[]> = {}) =>
  Principal.of({ sub: 'u', team: 7, resources }, VOUCHED, {})

const TENANTS = ['a', 'b', 'c', 'd', 'e']
const ALL = Object.freeze(Object.fromEntries(TENANTS.map((tenant) => [tenant, ['x:y']])))

test('a user has the rights that are told, and none of its token', () => {
  const user = new ToldRights({ a: ['x:y'] }, {}).of(userOf({ '*': ['z:y'], b: [] }), '*')
  assert.deepEqual(user.userInfo, { sub: 'u', team: 7, resources: { a: ['x:y'] } })
  assert.equal(Object.isFrozen(user.userInfo), true)
  assert.deepEqual([...user.tenants], ['a'])
  assert.deepEqual([...user.in('a').resources], ['x:y'])
  assert.equal(user.find('b'), undefined)
  assert.equal(user.expiresAt.getTime(), VOUCHED.exp * 1000)
})

test('a token has one principal, and the tokens of a user share what is made', () => {
  const told = new ToldRights(ALL, {})
  const [one, two] = [userOf(), userOf()]
  assert.equal(told.of(one, '*'), told.of(one, '*'))
  assert.notEqual(told.of(one, '*'), told.of(two, '*'))
  assert.equal(told.of(one, '*').in('a').resources, told.of(two, '*').in('a').resources)
  assert.equal(told.of(one, '*').tenants, told.of(two, '*').tenants)
})

test('what was made for another pin counts no more', () => {
  const told = new ToldRights(ALL, {})
  const user = userOf()
  assert.deepEqual([...told.of(user, new Set(['a'])).tenants], ['a'])
  assert.deepEqual([...told.of(user, new Set(['b'])).tenants], ['b'])
  assert.deepEqual([...told.of(user, '*').tenants], TENANTS)
})

test('the sets of the last few tenants are kept, and no principal keeps more of them', () => {
  const told = new ToldRights(ALL, {})
  const users = TENANTS.map(() => userOf())
  const sets = users.map((user, i) => told.of(user, '*').in(TENANTS[i] ?? '').resources)
  const [first = userOf(), last = userOf()] = [users[0], users.at(-1)]
  assert.notEqual(told.of(first, '*').in('a').resources, sets[0])
  assert.equal(told.of(last, '*').in('e').resources, sets.at(-1))
})

test('its size is of all that it may keep alive', () => {
  const size = (resources: Record<string, string[]> | null) =>
    new ToldRights(resources, {}).keptSize
  const ids = Array.from({ length: 1000 }, (_, i) => `menu:${i}`)
  const many = Object.fromEntries(ids.map((id) => [id, []]))
  assert.equal(size(null) < size({}), true)
  assert.equal(size({}) < 4096, true)
  assert.equal(size({ a: ids }) > 100_000, true)
  assert.equal(size({ ...many, '*': ids }) > 8_000_000, true, 'each tenant may hold each id')
})

test('a user that is not known has no rights by a pinned issuer either', () => {
  const user = new ToldRights(null, {}).of(userOf(ALL), new Set(['a']))
  assert.deepEqual([...user.tenants], [])
  assert.equal(Object.hasOwn(user.userInfo, 'resources'), false)
})

test('a token has one principal after its sets were let go of, too', () => {
  const told = new ToldRights(ALL, {})
  const token = userOf()
  for (const tenant of TENANTS) told.of(token, '*').in(tenant)
  assert.equal(told.of(token, '*'), told.of(token, '*'))
})
