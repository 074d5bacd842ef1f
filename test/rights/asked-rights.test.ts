import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Waits } from '../../lib/outside/waits.ts'
import { AskedRights, type AskedRightsRules } from '../../lib/rights/asked-rights.ts'
import { Principal } from '../../lib/rights/principal.ts'
import type { TokenUser } from '../../lib/rights/resources-of.ts'
import { readUserInfo } from '../../lib/tokens/user-info.ts'

const WAITS = new Waits()
const UNAVAILABLE = { code: 'ERR_AUTH_RESOURCES_UNAVAILABLE', retryAfter: 1 }

/** Rights that a function tells, and the names of the users that it was asked for. */
function rightsBy(answer: AskedRightsRules['resourcesOf']) {
  const asked: (string | null)[] = []
  const resourcesOf = (user: TokenUser) => {
    asked.push(user.sub)
    return answer(user)
  }
  const rights = new AskedRights({ resourcesOf, timeout: 60, maxAge: 60 })
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
