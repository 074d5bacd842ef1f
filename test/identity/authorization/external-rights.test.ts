import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ExternalRights,
  type ExternalRightsRules,
  ToldRights,
} from '../../../lib/identity/authorization/external-rights.ts'
import { Principal } from '../../../lib/identity/authorization/principal.ts'
import type { TokenUser } from '../../../lib/identity/authorization/resources.ts'
import { readUserInfo } from '../../../lib/identity/jwt/user-info.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'

const WAITS = new PendingRequests()
const UNAVAILABLE = { code: 'ERR_AUTH_RESOURCES_UNAVAILABLE', retryAfter: 1 }

/** Rights that a function tells, and the names of the users that it was asked for. */
function rightsBy(answer: ExternalRightsRules['resourcesOf']) {
  const asked: (string | null)[] = []
  const resourcesOf = (user: TokenUser) => {
    asked.push(user.sub)
    return answer(user)
  }
  const rights = new ExternalRights({ resourcesOf, timeout: 60, maxAge: 60 })
  const of = (sub: string) => {
    const principal = Principal.of(
      readUserInfo({ sub }),
      { exp: 1_900_000_000, issuer: null, actor: null },
      {},
    )
    return rights.of(
      { principal, names: { issuer: null, sub, jti: null, sid: null }, tenants: '*' },
      WAITS,
    )
  }
  return { rights, of, asked: () => asked.splice(0) }
}

const never = () => new Promise<null>(() => {})

test('64 users are asked for at once, a thousand wait, and the next one is refused', (t) => {
  const { rights, of, asked } = rightsBy(never)
  t.after(() => rights.close())
  const open = Array.from({ length: 1064 }, (_, i) => of(`user-${i}`))
  for (const question of open) void Promise.resolve(question).catch(() => {})
  assert.throws(() => of('user-1064'), UNAVAILABLE)
  assert.equal(asked().length, 64)
})

test('closing ends the questions that are open, and opening again asks anew', async () => {
  const answers: ((resources: Record<string, string[]>) => void)[] = []
  const { rights, of } = rightsBy(() => new Promise((resolve) => answers.push(resolve)))
  rights.open()
  const ended = assert.rejects(async () => of('alice'), UNAVAILABLE)
  rights.close()
  await ended
  rights.open()
  const alice = of('alice')
  answers[1]?.({ acme: [] })
  assert.deepEqual([...(await alice).tenants], ['acme'])
})

for (const [what, answer, count] of [
  ['users', { acme: [] }, 10_000],
  ['users that are not known', null, 10_000],
] as const) {
  test(`no more than ${count} ${what} are kept, and the oldest goes first`, () => {
    const { of, asked } = rightsBy(() => answer)
    for (let i = 0; i <= count; i++) void of(`user-${i}`)
    assert.equal(asked().length, count + 1)
    for (const user of ['user-1', `user-${count}`, 'user-0']) void of(user)
    assert.deepEqual(asked(), ['user-0'])
  })
}

test('users that are not known do not push out those that are', () => {
  const { of, asked } = rightsBy(({ sub }) => (sub === 'alice' ? { acme: [] } : null))
  void of('alice')
  for (let i = 0; i <= 10_000; i++) void of(`stranger-${i}`)
  asked()
  void of('alice')
  assert.deepEqual(asked(), [])
})

/** A text of 1 Mi letters, that counts with 2 MiB. All users share it. */
const LONG = 'x'.repeat(1_048_576)

for (const [what, resources, sub, kept] of [
  ['rights of 4 MiB', { a: [`${LONG}:${LONG}`] }, '', 39],
  ['names of 2 MiB', {}, LONG, 78],
] as const) {
  test(`users with ${what} are kept up to 10 000 times 16 KiB`, () => {
    const { of, asked } = rightsBy(() => resources)
    const users = Array.from({ length: kept + 1 }, (_, i) => `${i}-${sub}`)
    for (const user of users) void of(user)
    asked()
    for (const user of users.slice(1)) void of(user)
    assert.equal(asked().length, 0)
    void of(`0-${sub}`)
    assert.equal(asked().length, 1)
  })
}

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
