import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERR_AUTH_RESOURCES_UNAVAILABLE } from '../../../lib/errors.ts'
import {
  ExternalRights,
  type ExternalRightsRules,
  UserRights,
} from '../../../lib/identity/authorization/external-rights.ts'
import { Principal } from '../../../lib/identity/authorization/principal.ts'
import type { TokenUser } from '../../../lib/identity/authorization/resources.ts'
import { readUserInfo } from '../../../lib/identity/jwt/user-info.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'

const WAITS = new PendingRequests()

/** Rights that a function returns, and the names of the users that it was asked for. */
function rightsBy(answer: ExternalRightsRules['resourcesOf']) {
  const asked: (string | null)[] = []
  const resourcesOf = (user: TokenUser) => {
    asked.push(user.sub)
    return answer(user)
  }
  const rights = new ExternalRights({ resourcesOf, timeout: 60, maxAge: 60 })
  const proved = (sub: string) => {
    const principal = Principal.of(
      readUserInfo({ sub }),
      { exp: 1_900_000_000, issuer: null, actors: [] },
      {},
    )
    return { principal, names: { issuer: null, sub, jti: null, sid: null }, tenants: '*' } as const
  }
  const of = (sub: string) => rights.of(proved(sub), WAITS)
  return { rights, proved, of, asked: () => asked.splice(0) }
}

for (const [what, answer, count] of [
  ['users', { acme: [] }, 10_000],
  ['users that are not known', null, 10_000],
] as const) {
  test(`no more than ${count} ${what} are kept, and the oldest goes first`, (t) => {
    // Who is not known is kept for two seconds.
    t.mock.method(clock, 'now', () => 0)
    const { of, asked } = rightsBy(() => answer)
    for (let i = 0; i <= count; i++) void of(`user-${i}`)
    assert.equal(asked().length, count + 1)
    for (const user of ['user-1', `user-${count}`, 'user-0']) void of(user)
    assert.deepEqual(asked(), ['user-0'])
  })
}

test('users that are not known displace none that are', () => {
  const { of, asked } = rightsBy(({ sub }) => (sub === 'known' ? { acme: [] } : null))
  void of('known')
  for (let i = 0; i <= 10_000; i++) void of(`user-${i}`)
  asked()
  void of('known')
  assert.deepEqual(asked(), [])
})

test('refused by old rights, who has newer ones since gets these, and nobody is asked', (t) => {
  let now = 0
  t.mock.method(clock, 'now', () => now)
  let answer: Record<string, string[]> = {}
  const { rights, proved, asked } = rightsBy(() => answer)
  const [user, other] = [proved('u'), proved('u')]
  const used = rights.of(user, WAITS)
  assert.ok(used instanceof Principal, 'it is answered at once')
  assert.equal(rights.renewed(user.principal, user, WAITS), undefined, 'a token brings its own')
  const questions: number[] = []
  for (const seconds of [1.9, 2, 3.9, 4]) {
    now = seconds * 1000
    answer = { [`${seconds}`]: [] }
    if (seconds === 4) rights.forget({})
    asked()
    const renewed = rights.renewed(used, other, WAITS)
    assert.ok(!(renewed instanceof Promise), 'it is answered at once')
    questions.push(asked().length)
    const tenants = renewed === undefined ? [] : [...renewed.tenants]
    assert.deepEqual(tenants, { 1.9: [], 2: ['2'], 3.9: ['2'], 4: ['4'] }[seconds])
  }
  assert.deepEqual(questions, [0, 1, 0, 1])
})

test('close() ends the questions that are open, and asks none that waits for a place', async () => {
  const { rights, of, asked } = rightsBy(() => new Promise(() => {}))
  const waiting = Array.from({ length: 70 }, (_, i) => of(`user-${i}`))
  rights.close()
  for (const question of await Promise.allSettled(waiting)) {
    assert.equal(question.status, 'rejected')
    assert.ok(question.reason instanceof ERR_AUTH_RESOURCES_UNAVAILABLE, `${question.reason}`)
  }
  assert.equal(asked().length, 64)
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

const VOUCHED = { exp: 1_900_000_000, issuer: 'https://a.test', actors: [] }
const userOf = (resources: Record<string, string[]> = {}) =>
  Principal.of({ sub: 'u', team: 7, resources }, VOUCHED, {})

const TENANTS = ['a', 'b', 'c', 'd', 'e']
const ALL = Object.freeze(Object.fromEntries(TENANTS.map((tenant) => [tenant, ['x:y']])))

test('a token has one principal, and the tokens of a user share what is made', () => {
  const rights = new UserRights(ALL, {})
  const [one, two] = [userOf(), userOf()]
  assert.equal(rights.of(one, '*'), rights.of(one, '*'))
  assert.notEqual(rights.of(one, '*'), rights.of(two, '*'))
  assert.equal(rights.of(one, '*').in('a').resources, rights.of(two, '*').in('a').resources)
  assert.equal(rights.of(one, '*').tenants, rights.of(two, '*').tenants)
})

test('a user that is not known has no rights, by whatever pin', () => {
  for (const pin of ['*', new Set(['a'])] as const) {
    const user = new UserRights(null, {}).of(userOf({ a: ['x:y'] }), pin)
    assert.deepEqual([user.userInfo, user.find('a')], [{ sub: 'u', team: 7 }, undefined])
  }
})

test('the sets of the last few tenants are kept, and no principal keeps more of them', () => {
  const rights = new UserRights(ALL, {})
  const users = TENANTS.map(() => userOf())
  const sets = users.map((user, i) => rights.of(user, '*').in(TENANTS[i] ?? '').resources)
  const [first = userOf(), last = userOf()] = [users[0], users.at(-1)]
  assert.notEqual(rights.of(first, '*').in('a').resources, sets[0])
  assert.equal(rights.of(last, '*').in('e').resources, sets.at(-1))
})

test('its size is of all that it may keep alive', () => {
  const size = (resources: Record<string, string[]> | null) =>
    new UserRights(resources, {}).keptSize
  const ids = Array.from({ length: 1000 }, (_, i) => `menu:${i}`)
  const many = Object.fromEntries(ids.map((id) => [id, []]))
  assert.equal(size(null) < size({}), true)
  assert.equal(size({}) < 4096, true)
  assert.equal(size({ a: ids }) > 100_000, true)
  assert.equal(size({ ...many, '*': ids }) > 8_000_000, true, 'each tenant may hold each id')
})
