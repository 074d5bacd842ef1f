import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type DenyEntry, denyList } from '../../../../lib/entrypoints/revocation/index.ts'
import { clock } from '../../../../lib/platform/runtime/clock.ts'
import {
  attend,
  ISSUER_A,
  SECOND,
  START,
  stopClocks,
  tokenOf,
  verdictOf,
} from '../../../helpers/tokens/denied.ts'

const ISSUER_B = 'https://b.example.com'
const SEVERAL = { issuers: [ISSUER_A, ISSUER_B], clockTolerance: 0 }
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * SECOND)

const LOST: [what: string, entry: DenyEntry, code: string, others: object][] = [
  ['a user is that user', { sub: 'alice' }, 'ERR_DENY_LIST_USER_FULL', { sub: 'bob' }],
  [
    'a user of an issuer is that user',
    { sub: 'alice', issuer: ISSUER_A },
    'ERR_DENY_LIST_USER_FULL',
    { issuer: ISSUER_B },
  ],
  [
    'a session of a user is that user',
    { sub: 'alice', sid: 'session-9' },
    'ERR_DENY_LIST_USER_FULL',
    { sub: 'bob' },
  ],
  [
    'a session of an issuer is that issuer',
    { sid: 'session-9', issuer: ISSUER_A },
    'ERR_DENY_LIST_ISSUER_FULL',
    { issuer: ISSUER_B },
  ],
]

for (const [what, entry, code, others] of LOST) {
  test(`in a full list, whom the loss of ${what} concerns gets 503, and nobody else`, async (t) => {
    const { pass } = stopClocks(t)
    const list = denyList({ maxEntries: 2 })
    await list.add({ jti: 'a', until: inSeconds(100) })
    await list.add({ jti: 'b', until: inSeconds(100) })
    await list.add({ ...entry, until: inSeconds(50) })
    await list.add({ sid: 'other', issuer: 'https://c.example.com', until: inSeconds(50) })
    assert.equal(list.size(), 2)
    assert.equal(verdictOf(list), code)
    assert.equal(verdictOf(list, tokenOf(others)), false)
    assert.equal(verdictOf(list, tokenOf({ jti: 'b' })), true, 'what is known stays true')
    await pass(50 * SECOND)
    assert.equal(verdictOf(list), false, 'it would have ended')
  })
}

test('in a full list, an entry that names nobody makes 503 of all', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList({ maxEntries: 2 })
  await list.add({ jti: 'b', until: inSeconds(100) })
  await list.add({ jti: 'c', until: inSeconds(10) })
  assert.equal(verdictOf(list), false)
  await list.add({ jti: 'b', until: inSeconds(200) })
  assert.equal(verdictOf(list), false, 'an entry takes the place of one that it covers')
  await list.add({ jti: 'd', until: inSeconds(50) })
  await list.add({ jti: 'e', until: inSeconds(20) })
  assert.equal(list.size(), 2)
  assert.equal(verdictOf(list), 'ERR_DENY_LIST_FULL')
  await pass(49 * SECOND)
  assert.equal(verdictOf(list), 'ERR_DENY_LIST_FULL')
  await pass(SECOND)
  assert.equal(verdictOf(list), false, 'all that had no room has ended')
})

test('what has ended leaves its room at once', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList({ maxEntries: 1 })
  for (const sub of ['bob', 'carol', 'dave']) {
    await list.add({ sub, until: inSeconds(5) })
    assert.equal(verdictOf(list), false)
    assert.equal(verdictOf(list, tokenOf({ sub })), true)
    await pass(2 * SECOND)
    await list.add({ sub, until: inSeconds(3) })
    await pass(3 * SECOND)
    assert.equal(verdictOf(list, tokenOf({ sub })), false)
  }
})

test('beyond 1 000 entries of a user, that user gets 503, and nobody else', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList()
  const names = { sub: 'mallory', issuer: ISSUER_A }
  for (let i = 0; i < 1500; i++) await list.add({ ...names, jti: `${i}`, until: inSeconds(100) })
  assert.equal(list.size(), 1000)
  const mallory = tokenOf(names)
  assert.equal(verdictOf(list, mallory), 'ERR_DENY_LIST_USER_FULL')
  assert.equal(verdictOf(list, { ...mallory, jti: '999' }), true)
  for (const other of [tokenOf(), { ...mallory, issuer: ISSUER_B }, { ...mallory, sub: null }]) {
    assert.equal(verdictOf(list, other), false)
  }
  await pass(100 * SECOND, 10 * SECOND)
  assert.equal(verdictOf(list, mallory), false)
  await list.add({ ...names, until: inSeconds(100) })
  assert.deepEqual([verdictOf(list, mallory), list.size()], [true, 1])
})

test('where there are several issuers, one beyond a quarter of the entries gets 503 alone', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList({ maxEntries: 400 })
  const { attendant } = attend(t, list, SEVERAL)
  for (let i = 0; i < 500; i++) {
    await list.add({ sub: `user-${i}`, issuer: ISSUER_A, until: inSeconds(100) })
  }
  await list.add({ sub: 'carol', issuer: ISSUER_B })
  assert.equal(list.size(), 101)
  assert.equal(verdictOf(list), 'ERR_DENY_LIST_ISSUER_FULL')
  assert.equal(verdictOf(list, tokenOf({ sub: 'user-7' })), true)
  assert.equal(verdictOf(list, tokenOf({ issuer: ISSUER_B })), false)
  assert.equal(verdictOf(list, tokenOf({ issuer: null })), false)
  assert.equal(verdictOf(list, tokenOf({ issuer: ISSUER_B, sub: 'carol' })), true)
  assert.equal(attendant.isReady, true)
  for (let i = 0; i < 150; i++) await list.add({ jti: `token of any issuer ${i}` })
  assert.equal(list.size(), 251, 'what names no issuer is of none')
  await pass(100 * SECOND, 10 * SECOND)
  assert.equal(verdictOf(list), false)
})

test('one issuer alone has all the room', async () => {
  const list = denyList({ maxEntries: 400 })
  for (let i = 0; i < 400; i++) await list.add({ sub: `user-${i}`, issuer: ISSUER_A })
  assert.deepEqual([list.size(), verdictOf(list)], [400, false])
})

test('where customers fill the list together, one with few entries has room all the same', async (t) => {
  const list = denyList({ maxEntries: 100 })
  const issuers = Array.from({ length: 11 }, (_, i) => `https://${i}.example.com`)
  const { attendant } = attend(t, list, { issuers, clockTolerance: 0 })
  const [last = '', ...others] = issuers
  for (const issuer of others) {
    for (let i = 0; i < 20; i++) await list.add({ sub: `user-${i}`, issuer })
  }
  for (const jti of ['token-2', 'token-3']) await list.add({ jti, issuer: last })
  const verdict = (over: object) => verdictOf(list, tokenOf({ issuer: last, ...over }))
  assert.deepEqual([verdict({ jti: 'token-2' }), verdict({ jti: 'token-3' })], [true, true])
  assert.equal(verdict({}), false)
  for (const issuer of others) {
    assert.equal(verdictOf(list, tokenOf({ issuer })), false, 'who did not log out is admitted')
    for (let i = 0; i < 20; i++) {
      const token = tokenOf({ sub: `user-${i}`, issuer })
      assert.notEqual(verdictOf(list, token), false, 'no entry is dropped')
    }
  }
  assert.equal(attendant.isReady, true)
  assert.equal(list.size(), 100)
})

/** Issuers of one list, and users of them that are revoked. */
function manyIssuers(t: TestContext, rules: object, count: number) {
  const list = denyList(rules)
  const issuers = Array.from({ length: count }, (_, i) => `https://${i}.example.com`)
  attend(t, list, { issuers, clockTolerance: 0 })
  const user = (issuer: number, i: number, letters = '') => ({
    sub: `${letters}user-${i}`,
    issuer: issuers[issuer] ?? assert.fail('there is no such issuer'),
  })
  const until = inSeconds(1000)
  return {
    list,
    add: async (issuer: number, many: number, letters?: string) => {
      for (let i = 0; i < many; i++) await list.add({ ...user(issuer, i, letters), until })
    },
    /** Of that many revoked users, those whose entry had no room. */
    lost: (issuer: number, many: number) =>
      Array.from({ length: many }, (_, i) => verdictOf(list, tokenOf(user(issuer, i)))).flatMap(
        (verdict, i) => (verdict === true ? [] : [i]),
      ),
    ofOthers: (issuer: number) => verdictOf(list, tokenOf(user(issuer, -1))),
  }
}

const LONG = 'Ж'.repeat(200)

test('where there are several issuers, one beyond a quarter of the bytes gets 503 alone', async (t) => {
  const { list, add, lost, ofOthers } = manyIssuers(t, { maxBytes: 400_000 }, 2)
  await add(0, 1000, LONG)
  assert.ok(list.size() > 90 && list.size() < 120, `${list.size()}`)
  assert.equal(ofOthers(0), 'ERR_DENY_LIST_ISSUER_FULL')
  await add(1, 150)
  assert.deepEqual([lost(1, 150), ofOthers(1)], [[], false])
})

test('an issuer has room for one entry, however few bytes a quarter is', async (t) => {
  const { list, add } = manyIssuers(t, { maxBytes: 1500 }, 2)
  await add(0, 2, LONG)
  assert.equal(list.size(), 1)
})

test('where long names fill the bytes, short ones of an issuer that holds less have room', async (t) => {
  const { add, lost, ofOthers } = manyIssuers(t, { maxBytes: 400_000 }, 5)
  for (const issuer of [0, 1, 2, 3]) await add(issuer, 100, LONG)
  await add(4, 140)
  assert.deepEqual([lost(4, 140), ofOthers(4)], [[], false])
})

test('whoever holds most makes room, and not who holds more than most others do', async (t) => {
  const { add, lost } = manyIssuers(t, { maxEntries: 100 }, 5)
  for (const [issuer, many] of [21, 24, 25, 25, 10].entries()) await add(issuer, many)
  assert.deepEqual([lost(0, 21), lost(4, 10)], [[], []])
  const found = [lost(1, 24), lost(2, 25), lost(3, 25)].map(({ length }) => length)
  assert.deepEqual(found, [1, 2, 2])
})

test('a list that is read anew, and has no room for all, makes no room again', async (t) => {
  const { add, lost } = manyIssuers(t, { maxEntries: 100 }, 7)
  const read = async (many: number) => {
    for (let issuer = 0; issuer < 7; issuer++) await add(issuer, many)
    return Array.from({ length: 7 }, (_, issuer) => lost(issuer, 20))
  }
  const first = await read(20)
  assert.equal(first.flat().length, 40)
  for (let again = 0; again < 10; again++) assert.deepEqual(await read(20), first)
  assert.deepEqual(await read(1), first, 'what had to go has no room when it comes again')
})

test('an entry without a user makes no room, since its whole issuer would have to pay', async (t) => {
  stopClocks(t)
  const list = denyList({ maxEntries: 100 })
  const others = ['c0', 'c1', 'c2', 'c3']
  attend(t, list, { issuers: [ISSUER_A, ISSUER_B, ...others], clockTolerance: 0 })
  for (let i = 0; i < 24; i++) await list.add({ sid: `s${i}`, issuer: ISSUER_A })
  for (let i = 0; i < 76; i++) await list.add({ sub: `u${i}`, issuer: others[i % 4] ?? '' })
  await list.add({ sub: 'late', issuer: ISSUER_B })
  assert.equal(verdictOf(list, tokenOf({ issuer: ISSUER_A, sub: 'x', sid: 'other' })), false)
  const late = tokenOf({ issuer: ISSUER_B, sub: 'late' })
  assert.equal(verdictOf(list, late), true, 'a user of another issuer has made room')
})

for (const [entry, whose] of [
  [{ sub: 'late', issuer: ISSUER_B }, 'a user'],
  [{ sid: 'late', issuer: ISSUER_B }, 'nobody by name'],
] as const) {
  test(`an entry of ${whose} gets the room of a user of whoever holds most, old sessions or not`, async (t) => {
    const list = fullList(t)
    await list.add(entry)
    assert.equal(verdictOf(list, tokenOf({ issuer: ISSUER_B, sub: 'late', sid: 'late' })), true)
    const first = tokenOf({ issuer: ISSUER_A, sub: 'u0' })
    assert.equal(verdictOf(list, first), 'ERR_DENY_LIST_USER_FULL')
    assert.equal(verdictOf(list, tokenOf({ issuer: ISSUER_A, sub: 'x' })), false)
  })
}

test('where the list is full of sessions, the issuer of a new one pays, and no other one', async (t) => {
  stopClocks(t)
  const list = denyList({ maxEntries: 1000 })
  const others = ['c0', 'c1', 'c2', 'c3', 'c4']
  attend(t, list, { issuers: [ISSUER_B, ...others], clockTolerance: 0 })
  for (let i = 0; i < 1000; i++) await list.add({ sid: `s${i}`, issuer: others[i % 5] ?? '' })
  for (let i = 0; i < 5; i++) await list.add({ sid: `late${i}`, issuer: ISSUER_B })
  const verdicts = [ISSUER_B, ...others].map((issuer) =>
    verdictOf(list, tokenOf({ issuer, sub: 'x' })),
  )
  assert.deepEqual(verdicts, ['ERR_DENY_LIST_ISSUER_FULL', false, false, false, false, false])
})

/** Issuer A holds most: an old session, and 23 users. */
function fullList(t: TestContext) {
  stopClocks(t)
  const list = denyList({ maxEntries: 100 })
  const others = ['c0', 'c1', 'c2', 'c3']
  attend(t, list, { issuers: [ISSUER_A, ISSUER_B, ...others], clockTolerance: 0 })
  void list.add({ sid: 'old', issuer: ISSUER_A })
  for (let i = 0; i < 23; i++) void list.add({ sub: `u${i}`, issuer: ISSUER_A })
  for (let i = 0; i < 76; i++) void list.add({ sub: `o${i}`, issuer: others[i % 4] ?? '' })
  return list
}

/** A full list without room for many users of an issuer: the places of all users are taken. */
async function withoutPlaces(issuer: string | undefined, many: number) {
  const list = denyList({ maxEntries: 1 })
  const add = (names: DenyEntry) => list.add(names)
  const verdict = (sub: string, iss: string | null = ISSUER_A) =>
    verdictOf(list, tokenOf({ sub, issuer: iss }))
  await add({ jti: 'a' })
  for (let i = 0; i < many; i++) {
    await add({ sub: `user-${i}`, ...(issuer !== undefined && { issuer }) })
  }
  return { add, verdict }
}

const ISSUER_C = 'https://c.example.com'

test('users without room of one issuer take no place from those of another', async () => {
  const { add, verdict } = await withoutPlaces(ISSUER_A, 3999)
  await add({ sub: 'bob', issuer: ISSUER_B })
  await add({ sid: 'session-9', issuer: ISSUER_C })
  await add({ sub: 'carol', issuer: ISSUER_C })
  assert.equal(verdict('nobody'), false, 'the other issuer has one scope already')
  await add({ sub: 'alice', issuer: 'https://d.example.com' })
  assert.equal(verdict('alice', 'https://d.example.com'), 'ERR_DENY_LIST_USER_FULL')
  assert.equal(verdict('nobody', 'https://d.example.com'), false)
  assert.equal(verdict('bob', ISSUER_B), 'ERR_DENY_LIST_USER_FULL')
  assert.equal(verdict('nobody', ISSUER_B), false)
  assert.equal(verdict('user-0'), 'ERR_DENY_LIST_ISSUER_FULL')
})

test('of two issuers with as many users without room, the one with the next user pays', async () => {
  const { add, verdict } = await withoutPlaces(ISSUER_A, 2000)
  for (let i = 0; i <= 2000; i++) await add({ sub: `user-${i}`, issuer: ISSUER_B })
  assert.equal(verdict('nobody'), false)
  assert.equal(verdict('nobody', ISSUER_B), 'ERR_DENY_LIST_ISSUER_FULL')
})

for (const [whose, issuer, code] of [
  ['their issuer gets', ISSUER_A, 'ERR_DENY_LIST_ISSUER_FULL'],
  ['of no issuer, all get', undefined, 'ERR_DENY_LIST_FULL'],
] as const) {
  test(`beyond so many users that had no room, ${whose} 503`, async () => {
    const { add, verdict } = await withoutPlaces(issuer, 4000)
    const names = (sub: string) => ({ sub, ...(issuer !== undefined && { issuer }) })
    await add(names('user-0'))
    assert.equal(verdict('nobody'), false)
    await add(names('one more'))
    assert.equal(verdict('nobody'), code)
    assert.equal(verdict('user-0'), 'ERR_DENY_LIST_USER_FULL')
    assert.equal(verdict('nobody', ISSUER_B), issuer === undefined ? code : false)
  })
}

test('memory is bounded in bytes, whatever the names are', async () => {
  const sizes: number[] = []
  for (const letter of ['a', '\u0001', 'Ж', '\ud800']) {
    for (const length of [40, 256, 2048]) {
      const list = denyList({ maxBytes: 400_000 })
      const name = (i: number) => letter.repeat(length - 8) + `${i}`.padStart(8, '0')
      for (let i = 0; i < 1000; i++) {
        await list.add({ jti: name(i), sid: name(i), sub: name(i), issuer: name(i) })
      }
      sizes.push(list.size())
    }
  }
  const [short = 0, kept = 0, hashed = 0] = sizes
  assert.ok(short > 400 && short < 600, `${sizes}`)
  assert.ok(kept < short / 2 && hashed > kept, `a longer name is kept shorter: ${sizes}`)
  assert.ok(Math.min(...sizes) > 50, `${sizes}`)
})

test('entries leave memory within a minute after their end, in slices', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList()
  attend(t, list)
  for (let i = 0; i < 50_000; i++) {
    const name = i % 4 < 2 ? 'sub' : 'jti'
    await list.add({ [name]: `name-${i}`, until: inSeconds(i % 2 === 0 ? 30 : 90) })
  }
  await pass(59 * SECOND, 59 * SECOND)
  assert.equal(list.size(), 50_000)
  await pass(SECOND)
  assert.ok(list.size() > 25_000 && list.size() < 50_000, `${list.size()} after one slice`)
  await pass(SECOND, 20)
  assert.equal(list.size(), 25_000)
  await pass(60 * SECOND)
  await pass(SECOND, 20)
  assert.equal(list.size(), 0)
})

test('an end counts the tolerance of the services, as that of a token does', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList()
  attend(t, list, { issuers: [ISSUER_A], clockTolerance: 60 })
  const token = tokenOf({ expiresAt: inSeconds(100) })
  await list.add({ jti: 'token-1', until: inSeconds(100) })
  await pass(160 * SECOND - 1, 10 * SECOND)
  assert.equal(verdictOf(list, token), true)
  await pass(1)
  assert.equal(verdictOf(list, token), false)
  await assert.rejects(list.add({ jti: 'token-1', until: inSeconds(-60) }), /is over/)
  await list.add({ jti: 'token-1', until: inSeconds(-59) })
  assert.equal(verdictOf(list, token), true, 'a token may be revoked in its last seconds')
})

/** A wall clock that the test sets, beside a clock that goes on. */
function clocksApart(t: TestContext) {
  const { pass } = stopClocks(t)
  const wall = Date.now
  clock.now = () => wall() - START
  return { pass, setWallClock: (by: number) => t.mock.method(Date, 'now', () => wall() + by) }
}

/** Ends of entries that are added before and after the wall clock was set; then the last end. */
const CLOCKS: [setBy: number, before: number[], after: number[], end: number, again?: 'again'][] = [
  [1000, [100], [], 100],
  [1000, [100, 200, 150], [], 200],
  [1000, [100], [50], 100],
  [-3600, [100, 100], [], 3700],
  [-300, [100, 200, 150], [], 500],
  [-300, [100], [350], 400],
  [1000, [100], [50], 1050, 'again'],
  [-300, [100], [350], 350, 'again'],
]

for (const maxEntries of [1000, 1]) {
  const what = maxEntries === 1 ? 'lost entries' : 'entries'
  for (const [setBy, before, after, end, again = ''] of CLOCKS) {
    test(`${what} until ${before}, then ${after} last ${end} s, the wall clock set by ${setBy} s ${again}`, async (t) => {
      const { pass, setWallClock } = clocksApart(t)
      const list = denyList({ maxEntries })
      attend(t, list, { issuers: [ISSUER_A], clockTolerance: 60 })
      await list.add({ jti: 'another' })
      const add = async (ends: number[]) => {
        for (const each of ends) await list.add({ sub: 'alice', until: inSeconds(each) })
      }
      await add(before)
      setWallClock(setBy * SECOND)
      await add(after)
      if (again) setWallClock(0)
      await pass((end + 59) * SECOND, 59 * SECOND)
      assert.equal(verdictOf(list), maxEntries === 1 ? 'ERR_DENY_LIST_USER_FULL' : true)
      await pass(SECOND)
      assert.equal(verdictOf(list), false)
    })
  }
}
