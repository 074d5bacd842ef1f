import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Denials } from '../../lib/deny-list/denials.ts'
import { readDenial } from '../../lib/deny-list/deny-entry.ts'
import { clock } from '../../lib/outside/clock.ts'
import { denyList } from '../../lib/revocation.ts'
import {
  HOUR,
  ISSUER_A,
  SECOND,
  START,
  stopClocks,
  tokenOf,
  verdictOf,
} from '../helpers/tokens/denied.ts'

const ISSUER_B = 'https://b.example.com'
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * SECOND)

test('beyond maxEntries the list answers for no token that no entry fits', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList({ maxEntries: 2 })
  await list.add({ sub: 'bob', until: inSeconds(100) })
  await list.add({ sub: 'carol', until: inSeconds(10) })
  assert.equal(verdictOf(list), false)
  await list.add({ sub: 'bob', until: inSeconds(200) })
  assert.equal(verdictOf(list), false, 'an entry takes the place of one that it covers')
  await list.add({ sub: 'dave', until: inSeconds(50) })
  await list.add({ sub: 'erin', until: inSeconds(20) })
  assert.equal(list.size(), 2)
  assert.equal(verdictOf(list), 'ERR_DENY_LIST_FULL')
  assert.equal(verdictOf(list, tokenOf({ sub: 'bob' })), true)
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
    await pass(2 * SECOND)
    await list.add({ sub, until: inSeconds(3) })
    await pass(3 * SECOND)
    assert.equal(verdictOf(list, tokenOf({ sub })), false)
  }
})

test('entries of one issuer beyond 10 000 make 503 of its own tokens only', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList()
  for (let i = 0; i < 10_000; i++) {
    await list.add({ sub: `user-${i}`, issuer: ISSUER_A, until: inSeconds(100) })
  }
  assert.equal(verdictOf(list), false)
  for (const seconds of [60, 30]) {
    await list.add({ sub: `last-${seconds}`, issuer: ISSUER_A, until: inSeconds(seconds) })
  }
  await list.add({ sub: 'bob' })
  await list.add({ sub: 'carol', issuer: ISSUER_B })
  assert.equal(list.size(), 10_002)
  assert.equal(verdictOf(list), 'ERR_DENY_LIST_ISSUER_FULL')
  assert.equal(verdictOf(list, tokenOf({ sub: 'user-7' })), true)
  assert.equal(verdictOf(list, tokenOf({ issuer: ISSUER_B })), false)
  assert.equal(verdictOf(list, tokenOf({ issuer: null })), false)
  assert.equal(verdictOf(list, tokenOf({ issuer: ISSUER_B, sub: 'carol' })), true)
  await pass(60 * SECOND, 60 * SECOND)
  assert.equal(verdictOf(list), false)
  await pass(40 * SECOND, 40 * SECOND)
  await list.add({ sub: 'alice', issuer: ISSUER_A })
  assert.equal(verdictOf(list), true)
  assert.equal(verdictOf(list, tokenOf({ sub: 'user-7' })), false, 'there is room again')
  assert.equal(list.size(), 3)
})

test('entries leave memory when they have ended, some with each request', async (t) => {
  const { pass } = stopClocks(t)
  const list = denyList()
  for (let i = 0; i < 250; i++) {
    await list.add({ sub: `user-${i}`, until: inSeconds(i % 2 === 0 ? 15 : 55) })
  }
  await list.add({ sub: 'bob', issuer: ISSUER_A, until: inSeconds(15) })
  await pass(25 * SECOND)
  for (const left of [151, 125, 125]) {
    assert.equal(verdictOf(list), false)
    assert.equal(list.size(), left)
  }
  await pass(100 * SECOND)
  for (const left of [25, 0]) {
    assert.equal(verdictOf(list), false)
    assert.equal(list.size(), left)
  }
})

/** A wall clock that the test sets, beside a clock that goes on. */
function clocksApart(t: TestContext) {
  const { pass } = stopClocks(t)
  const wall = Date.now
  clock.now = () => wall() - START
  return { pass, setWallClock: (by: number) => t.mock.method(Date, 'now', () => wall() + by) }
}

test('an entry does not end because the wall clock was set forward', async (t) => {
  const { pass, setWallClock } = clocksApart(t)
  const list = denyList()
  await list.add({ sub: 'alice', until: inSeconds(100) })
  setWallClock(1000 * SECOND)
  await pass(99 * SECOND)
  assert.equal(verdictOf(list), true)
  await pass(SECOND)
  assert.equal(verdictOf(list), false)
})

test('an entry lasts longer if the wall clock was set back, as the tokens do', async (t) => {
  const { pass, setWallClock } = clocksApart(t)
  const list = denyList()
  await list.add({ sub: 'alice', until: inSeconds(100) })
  await list.add({ sub: 'alice', until: inSeconds(100) })
  await pass(50 * SECOND)
  setWallClock(-HOUR)
  await pass(HOUR, 60 * SECOND)
  assert.equal(verdictOf(list), true)
  await list.add({ sub: 'bob', until: inSeconds(1) })
  await pass(49 * SECOND)
  assert.equal(verdictOf(list), true)
  await pass(30 * SECOND)
  assert.equal(verdictOf(list), false)
  assert.equal(list.size(), 0)
})

test('what had no room is forgotten when all was read that was asked for after it', (t) => {
  stopClocks(t)
  const denials = new Denials(1)
  const add = (sub: string) => denials.add(readDenial({ sub, until: inSeconds(100) }))
  add('bob')
  const overtaken = denials.beginAnew()
  const latest = denials.beginAnew()
  add('carol')
  overtaken()
  assert.equal(denials.failureFor(null), 'ERR_DENY_LIST_FULL')
  latest()
  assert.equal(denials.failureFor(null), 'ERR_DENY_LIST_FULL', 'it came in between')
  denials.beginAnew()()
  assert.equal(denials.failureFor(null), undefined)
})
