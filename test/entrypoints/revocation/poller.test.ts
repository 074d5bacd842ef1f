import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { denyListFunction } from '../../../lib/entrypoints/revocation/deny-list.ts'
import { type DenyListOptions, denyList } from '../../../lib/entrypoints/revocation/index.ts'
import type { DenyListSource } from '../../../lib/entrypoints/revocation/poller.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { heard } from '../../helpers/app/heard.ts'
import { EntryLog } from '../../helpers/servers/entry-log.ts'
import {
  attend,
  HOUR,
  ISSUER_A,
  SECOND,
  START,
  settled,
  stopClocks,
  tokenOf,
  verdictOf,
} from '../../helpers/tokens/denied.ts'

const ENTRY = { sub: 'alice', until: new Date(START + 20 * HOUR) }
const RULES = {
  interval: 5,
  maxStale: 60,
  whenStale: 'refuse',
  maxEntries: 1000,
  maxBytes: 2 ** 26,
} as const
const NOT_GIVEN = 'ERR_DENY_LIST_NOT_GIVEN'
const NOT_LOADED = 'ERR_DENY_LIST_NOT_LOADED'
const STALE = 'ERR_DENY_LIST_STALE'

function start(t: TestContext, options: DenyListOptions<number> = {}) {
  const clocks = stopClocks(t)
  const log = new EntryLog()
  const list = denyList({ changes: log.changes, append: log.append, interval: 5, ...options })
  return { ...clocks, log, list }
}

test('a list that is not loaded yet answers for no token', async (t) => {
  const { list } = start(t)
  assert.equal(verdictOf(list), NOT_GIVEN)
  const { attendant } = attend(t, list)
  assert.equal(attendant.isReady, false)
  assert.equal(verdictOf(list), NOT_LOADED)
  await settled()
  assert.equal(attendant.isReady, true)
  assert.equal(verdictOf(list), false)
})

test('it asks every interval for what came since the last answer', async (t) => {
  const { list, log, pass } = start(t, { interval: 7 })
  attend(t, list)
  await settled()
  log.entries.push(ENTRY)
  await pass(7 * SECOND - 1)
  assert.equal(verdictOf(list), false)
  await pass(1)
  assert.equal(verdictOf(list), true)
  await pass(14 * SECOND)
  assert.deepEqual(log.asked, [null, 0, 1, 1])
})

test('wake() asks at once, and again if a question was under way', async (t) => {
  const { list, log, pass } = start(t)
  list.wake()
  attend(t, list)
  await settled()
  const late: (() => void)[] = []
  log.onAnswer = (answer) => new Promise((resolve) => late.push(() => resolve(answer)))
  list.wake()
  list.wake()
  await pass(20)
  assert.equal(log.asked.length, 2)
  log.entries.push(ENTRY)
  list.wake()
  list.wake()
  late.pop()?.()
  await settled()
  assert.equal(verdictOf(list), false)
  await pass(20)
  assert.equal(log.asked.length, 3)
  late.pop()?.()
  await settled()
  assert.equal(verdictOf(list), true)
})

test('many messages cause no more questions than fifty in a second, and put none off', async (t) => {
  const { list, log, pass } = start(t)
  attend(t, list)
  await settled()
  for (let i = 0; i < 1000; i++) {
    list.wake()
    await pass(1)
  }
  assert.ok(log.asked.length <= 51, `${log.asked.length} questions`)
  assert.ok(log.asked.length > 40, `${log.asked.length} questions`)
})

test('a list that is older than maxStale answers again when it is loaded again', async (t) => {
  const { list, log, pass } = start(t)
  const { attendant, logged } = attend(t, list)
  await settled()
  log.onAnswer = () => Promise.reject(Object.assign(new Error('secret'), { code: 'ECONNREFUSED' }))
  await pass(60 * SECOND)
  assert.equal(verdictOf(list), false)
  assert.deepEqual(logged, ['the deny list cannot be read (ECONNREFUSED)'])
  await pass(1)
  assert.equal(verdictOf(list), STALE)
  assert.equal(attendant.isReady, false)
  log.onAnswer = (answer) => answer
  await pass(5 * SECOND)
  assert.equal(verdictOf(list), false)
  assert.equal(attendant.isReady, true)
  log.onAnswer = () => Promise.reject(new Error('secret'))
  await pass(10 * SECOND)
  assert.deepEqual(logged.slice(1), ['the deny list cannot be read (Error)'])
})

test('the age of a list counts from the question, not from its late answer', async (t) => {
  const { list, log, pass } = start(t)
  attend(t, list)
  await settled()
  log.onAnswer = (answer) => new Promise((resolve) => setTimeout(() => resolve(answer), 9000))
  await pass(5 * SECOND + 9 * SECOND)
  log.onAnswer = () => Promise.reject(new Error('secret'))
  await pass(51 * SECOND)
  assert.equal(verdictOf(list), false)
  await pass(1)
  assert.equal(verdictOf(list), STALE)
})

test('what is known stays refused in a stale list', async (t) => {
  const { list, log, pass } = start(t)
  log.entries.push(ENTRY)
  attend(t, list)
  await settled()
  log.onAnswer = () => assert.fail('on purpose')
  await pass(70 * SECOND)
  assert.equal(verdictOf(list), true)
  assert.equal(verdictOf(list, tokenOf({ sub: 'bob' })), STALE)
})

test('whenStale: admit admits what no entry is known to fit', async (t) => {
  const { list, log, pass } = start(t, { whenStale: 'admit' })
  const { attendant } = attend(t, list)
  assert.equal(verdictOf(list), false)
  assert.equal(attendant.isReady, false, 'it is not loaded')
  log.entries.push(ENTRY)
  await pass(5 * SECOND)
  log.onAnswer = () => assert.fail('on purpose')
  await pass(70 * SECOND)
  assert.equal(attendant.isReady, true, 'it is old')
  assert.equal(verdictOf(list), true)
  assert.equal(verdictOf(list, tokenOf({ sub: 'bob' })), false)
})

const until = ENTRY.until.toISOString()

/** As rows that an application wraps may be: read without their `sub`, they were the issuer's. */
const issuerBeside = (row: object) => Object.assign(row, { issuer: ISSUER_A, until })
const withGetter = () => Object.defineProperty({}, 'sub', { get: () => 'bob', enumerable: true })
const withHidden = () => Object.defineProperty({}, 'sub', { value: 'bob' })

const NO_ANSWERS: [what: string, answer: unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a list', [ENTRY]],
  ['no entries', { cursor: 1 }],
  ['inherited entries', Object.assign(Object.create({ entries: [] }), { cursor: 1 })],
  ['entries that are no list', { entries: { 0: ENTRY }, cursor: 1 }],
  ['no cursor', { entries: [] }],
  ['an undefined cursor', { entries: [], cursor: undefined }],
  ['an entry that is none', { entries: [null], cursor: 1 }],
  ['an entry without a name', { entries: [{ until }], cursor: 1 }],
  ['an entry whose names are null', { entries: [{ sub: null, jti: null, until }], cursor: 1 }],
  ['an entry with an empty sub', { entries: [{ sub: '', issuer: ISSUER_A, until }], cursor: 1 }],
  ['an issuer that is a number', { entries: [{ sub: 'bob', issuer: 7, until }], cursor: 1 }],
  ['an entry with a number', { entries: [{ sub: 7, until }], cursor: 1 }],
  ['an inherited sub', { entries: [issuerBeside(Object.create({ sub: 'bob' }))], cursor: 1 }],
  ['a sub that is a getter', { entries: [issuerBeside(withGetter())], cursor: 1 }],
  ['a hidden sub', { entries: [issuerBeside(withHidden())], cursor: 1 }],
  ['an end that is a number', { entries: [{ sub: 'bob', until: START * 2 }], cursor: 1 }],
  ['an end that is a day', { entries: [{ sub: 'bob', until: '2099-01-01' }], cursor: 1 }],
  ['a bad issuedBefore', { entries: [{ sub: 'bob', until, issuedBefore: 'now' }], cursor: 1 }],
]

for (const [what, answer] of NO_ANSWERS) {
  test(`an answer with ${what} is a failure, and the list stays`, async (t) => {
    const { list, log, pass } = start(t)
    log.entries.push(ENTRY)
    const { logged } = attend(t, list)
    await settled()
    log.onAnswer = () => answer
    await pass(61 * SECOND)
    assert.equal(logged.length, 1)
    assert.match(
      logged[0] ?? '',
      /^the deny list cannot be read \((no entries|an? |[a-z]\w+ of an)/i,
    )
    assert.equal(list.size(), 1)
    assert.equal(verdictOf(list), true)
    assert.equal(verdictOf(list, tokenOf({ sub: 'carol' })), STALE)
    assert.deepEqual(new Set(log.asked.slice(2)), new Set([null]), 'all is asked for anew')
  })
}

test('of an answer with a bad entry the good ones count', async (t) => {
  const { list, log } = start(t)
  log.onAnswer = () => ({ entries: [{}, ENTRY, 7], cursor: 1 })
  attend(t, list)
  await settled()
  assert.equal(list.size(), 1)
  assert.equal(verdictOf(list, tokenOf({ sub: 'bob' })), NOT_LOADED)
})

test('after a page with a bad entry the later pages are read, and count', async (t) => {
  const { pass } = stopClocks(t)
  const pages = [[42], [ENTRY]]
  const asked: (number | null)[] = []
  const source: DenyListSource<number> = {
    async changes(cursor) {
      asked.push(cursor)
      const at = cursor ?? 0
      return { entries: pages[at] ?? [], cursor: at + 1, hasMore: at + 1 < pages.length }
    },
  }
  const list = denyListFunction({ ...RULES, maxLifetime: 7200, whenStale: 'admit' }, source)
  const { logged } = attend(t, list)
  await settled()
  assert.equal(verdictOf(list), true)
  assert.equal(verdictOf(list, tokenOf({ sub: 'bob' })), false)
  assert.equal(logged.length, 1)
  pages[0] = []
  await pass(5 * SECOND)
  assert.deepEqual(asked, [null, 1, null, 1], 'all is asked for anew')
  await pass(5 * SECOND)
  assert.deepEqual(asked.slice(4), [2], 'and then what has come since')
})

test('while an entry cannot be read, a long list is read for a tenth of the time at most', async (t) => {
  const { pass } = stopClocks(t)
  let isBad = true
  let took = 2
  const begun: number[] = []
  const source: DenyListSource<number> = {
    async changes() {
      begun.push(Date.now() - START)
      await new Promise((resolve) => setTimeout(resolve, took * SECOND))
      return { entries: isBad ? [42] : [], cursor: 1 }
    },
  }
  const list = denyListFunction({ ...RULES, maxLifetime: 7200, whenStale: 'admit' }, source)
  attend(t, list)
  await pass(15 * SECOND)
  list.wake()
  await pass(10 * SECOND)
  assert.deepEqual(begun.splice(0), [0, 20 * SECOND])
  took = 9
  await pass(95 * SECOND)
  assert.deepEqual(begun.splice(0), [40 * SECOND, 109 * SECOND], 'a minute at most')
  isBad = false
  took = 0
  await pass(70 * SECOND)
  assert.deepEqual(
    begun.slice(0, 3),
    [178, 183, 188].map((at) => at * SECOND),
  )
})

test('rows of a table are entries: null is no name, and other columns do not count', async (t) => {
  const { list, log } = start(t)
  const row = { id: 1, jti: null, sid: null, sub: 'alice', issuer: null, issuedBefore: null, until }
  log.onAnswer = () => ({ entries: [row], cursor: null })
  attend(t, list)
  await settled()
  assert.equal(verdictOf(list), true)
})

test('a row that hides its names from the operator in is no entry of the whole issuer', async (t) => {
  const { list, log } = start(t)
  const row = new Proxy(
    { sub: 'bob', issuer: ISSUER_A, until },
    { has: (row, name) => name !== 'sub' && name in row },
  )
  log.onAnswer = () => ({ entries: [row], cursor: null })
  attend(t, list)
  await settled()
  const verdicts = ['bob', 'alice'].map((sub) => verdictOf(list, tokenOf({ sub })))
  assert.deepEqual(verdicts, [true, false])
})

test('an answer that is late is a failure, and does not count when it comes', async (t) => {
  const { list, log, pass } = start(t)
  const { logged } = attend(t, list)
  await settled()
  const late: ((answer: unknown) => void)[] = []
  log.onAnswer = () => new Promise((resolve) => late.push(resolve))
  await pass(14 * SECOND)
  assert.equal(log.asked.length, 2, 'one question at a time')
  await pass(SECOND)
  assert.deepEqual(logged, ['the deny list cannot be read (late)'])
  late[0]?.({ entries: [ENTRY], cursor: 99 })
  log.onAnswer = (answer) => answer
  await pass(5 * SECOND)
  assert.equal(verdictOf(list), false)
  assert.deepEqual(log.asked.slice(0, 3), [null, 0, null], 'all is asked for anew')
})

test('add throws if append failed, and the entry counts here', async (t) => {
  const { list, pass } = start(t, { append: () => assert.fail('on purpose') })
  attend(t, list)
  const unavailable = { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' }
  await assert.rejects(list.add({ sub: 'alice' }), unavailable)
  assert.equal(verdictOf(list), true)
  const { changes } = new EntryLog()
  await assert.rejects(denyList({ changes }).add({ sub: 'alice' }), unavailable)
  const hanging = denyList({ changes, append: () => new Promise(() => {}) })
  const rejected = assert.rejects(hanging.add({ sub: 'alice' }), unavailable)
  await pass(10 * SECOND)
  await rejected
})

test('ready() asks without a service too, and after a question that came too early', async (t) => {
  const { list, log, pass } = start(t)
  await Promise.all([list.ready(), list.ready()])
  await pass(10 * SECOND)
  assert.equal(log.asked.length, 1, 'one question at a time, and none of its own')
  assert.equal(verdictOf(list), false)
  const late: (() => void)[] = []
  log.onAnswer = (answer) => new Promise((resolve) => late.push(() => resolve(answer)))
  const early = list.ready()
  await settled()
  log.entries.push(ENTRY)
  log.onAnswer = (answer) => answer
  const ready = list.ready()
  late[0]?.()
  await Promise.all([early, ready])
  assert.equal(verdictOf(list), true)
  log.onAnswer = () => assert.fail('on purpose')
  await assert.rejects(list.ready(), { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
})

test('with the last service it ends, and with the next one it goes on', async (t) => {
  const { list, log, pass } = start(t)
  const events = heard(t, 'document')
  const [first, second] = [attend(t, list), attend(t, list)]
  await settled()
  first.close()
  await pass(5 * SECOND)
  assert.equal(log.asked.length, 2)
  log.onAnswer = () => new Promise(() => {})
  await pass(5 * SECOND)
  second.close()
  await pass(HOUR, 60 * SECOND)
  list.wake()
  await pass(SECOND)
  assert.equal(log.asked.length, 3)
  assert.deepEqual([...first.logged, ...second.logged], [], 'what is ended is no failure')
  assert.deepEqual(new Set(events.map(({ event }) => event)), new Set(['fetched']))
  assert.equal(verdictOf(list), STALE)
  log.onAnswer = (answer) => answer
  attend(t, list)
  await settled()
  assert.equal(verdictOf(list), false)
  assert.equal(log.asked.length, 4)
})

test('a service that comes at any turn of an earlier question is asked for all the same', async (t) => {
  const { pass } = stopClocks(t)
  const logs = Array.from({ length: 20 }, () => new EntryLog())
  for (const [turns, { changes }] of logs.entries()) {
    const list = denyList({ changes, interval: 5 })
    const isReady = list.ready()
    for (let turn = 0; turn < turns; turn++) await null
    attend(t, list)
    await isReady
  }
  await pass(10 * SECOND)
  const silent = logs.flatMap(({ asked }, turns) => (asked.length < 3 ? [turns] : []))
  assert.deepEqual(silent, [])
})

test('a question that its service has ended does not stand for that of the next one', async (t) => {
  const { list, log, pass } = start(t)
  log.onAnswer = () => new Promise(() => {})
  attend(t, list).close()
  attend(t, list)
  await settled()
  list.wake()
  await pass(SECOND)
  assert.equal(log.asked.length, 2, 'one question at a time')
})

test('after a sleep of the machine the next token causes a question', async (t) => {
  const { list, log } = start(t)
  attend(t, list)
  await settled()
  clock.now = () => Date.now() + HOUR
  assert.equal(verdictOf(list), STALE)
  assert.equal(verdictOf(list), STALE)
  await settled()
  assert.equal(log.asked.length, 2)
  assert.equal(verdictOf(list), false)
})

test('after the wall clock was set, all entries are asked for anew, until they are returned', async (t) => {
  const { list, log, pass } = start(t)
  log.entries.push({ sub: 'alice', until: new Date(START + 100 * SECOND).toISOString() })
  const wall = Date.now
  clock.now = () => wall()
  const set = t.mock.method(Date, 'now', () => wall() + HOUR)
  attend(t, list)
  await settled()
  assert.equal(verdictOf(list), false, 'it is over, as the clock says')
  set.mock.restore()
  log.onAnswer = () => assert.fail('on purpose')
  await pass(5 * SECOND)
  log.onAnswer = (answer) => answer
  await pass(10 * SECOND)
  assert.equal(verdictOf(list), true)
  assert.deepEqual(log.asked, [null, null, null, 1])
})

test('a clock that is set back in small steps was set back', async (t) => {
  const { list, log, pass } = start(t, { interval: 1 })
  log.entries.push({ sub: 'alice', until: new Date(START + 100 * SECOND) })
  const wall = Date.now
  clock.now = () => wall() - START
  let ahead = 120 * SECOND
  t.mock.method(Date, 'now', () => wall() + ahead)
  attend(t, list)
  await settled()
  assert.equal(verdictOf(list), false, 'it is over, as the clock says')
  for (; ahead > 0; ahead -= 1.5 * SECOND) await pass(SECOND)
  assert.equal(verdictOf(list), true)
  await pass(3 * SECOND)
  assert.equal(log.asked.at(-1), 1, 'not for ever')
})

test('a list that is full is not read anew for that, and right when what it lost has ended', async (t) => {
  const { list, log, pass } = start(t, { maxEntries: 2 })
  for (const [i, hours] of [3, 2, 1].entries()) {
    log.entries.push({ jti: `token-${i}`, until: new Date(START + hours * HOUR) })
  }
  attend(t, list)
  await settled()
  const other = tokenOf({ jti: 'other' })
  assert.equal(verdictOf(list, other), 'ERR_DENY_LIST_FULL')
  await pass(HOUR - SECOND, 10 * SECOND)
  assert.equal(verdictOf(list, other), 'ERR_DENY_LIST_FULL')
  await pass(SECOND)
  assert.equal(verdictOf(list, other), false)
  assert.deepEqual(log.asked.filter((cursor) => cursor === null).length, 1)
})

test('an entry without an end lasts for the maxLifetime of its reader', async (t) => {
  const { list, log, pass } = start(t, { maxLifetime: 3600 })
  const short = denyList({ changes: log.changes, append: log.append, maxLifetime: 60 })
  attend(t, list)
  await settled()
  await short.add({ sub: 'alice' })
  assert.deepEqual(log.entries, [{ sub: 'alice' }], 'it is kept without an end')
  await pass(5 * SECOND)
  await pass(3600 * SECOND + 299 * SECOND, 10 * SECOND)
  assert.equal(verdictOf(list, tokenOf({ expiresAt: new Date(Date.now() + SECOND) })), true)
  const found = verdictOf(short, tokenOf({ issuedAt: new Date(), expiresAt: new Date() }))
  assert.equal(found, NOT_GIVEN)
  await pass(SECOND)
  assert.equal(verdictOf(list, tokenOf({ expiresAt: new Date(Date.now() + SECOND) })), false)
})

test('an entry without an end that is returned again and again ends all the same', async (t) => {
  const { list, log, pass } = start(t, { maxLifetime: 600 })
  log.onAnswer = () => ({ entries: [{ sub: 'alice' }, { sub: 'alice' }], cursor: 1 })
  attend(t, list)
  await settled()
  const token = () => tokenOf({ expiresAt: new Date(Date.now() + SECOND) })
  await pass(899 * SECOND)
  assert.equal(verdictOf(list, token()), true)
  await pass(SECOND)
  for (let minute = 0; minute < 5; minute++) {
    assert.equal(verdictOf(list, token()), false)
    await pass(60 * SECOND)
  }
})

test('an entry without an end that is added once more lasts as long once more', async (t) => {
  const { list, log, pass } = start(t, { maxLifetime: 600 })
  attend(t, list)
  log.entries.push({ sub: 'alice' })
  await pass(500 * SECOND)
  log.entries.push({ sub: 'alice' })
  await pass(899 * SECOND)
  const token = tokenOf({ expiresAt: new Date(Date.now() + SECOND) })
  assert.equal(verdictOf(list, token), true)
})

for (const [when, failsMeanwhile, answersAll] of [
  ['after a failure', true, false],
  ['in answers of all entries', false, true],
  ['after a failure, in answers of all entries', true, true],
] as const) {
  test(`so does one that comes beside the first one, ${when}`, async (t) => {
    const { list, log, pass } = start(t, { maxLifetime: 600 })
    if (answersAll) log.onAnswer = () => ({ entries: [...log.entries], cursor: 1 })
    attend(t, list)
    log.entries.push({ sub: 'alice' })
    await pass(500 * SECOND)
    const { onAnswer } = log
    if (failsMeanwhile) log.onAnswer = () => assert.fail('on purpose')
    await pass(10 * SECOND)
    log.onAnswer = onAnswer
    log.entries.push({ sub: 'alice' })
    await pass(890 * SECOND)
    const token = () => tokenOf({ expiresAt: new Date(Date.now() + SECOND) })
    assert.equal(verdictOf(list, token()), true)
    await pass(20 * SECOND)
    assert.equal(verdictOf(list, token()), false)
  })
}

test('an entry without an end that is read anew after a failure ends as it would have', async (t) => {
  const { list, log, pass } = start(t, { maxLifetime: 600 })
  log.entries.push({ sub: 'alice' })
  attend(t, list)
  await settled()
  await pass(500 * SECOND)
  log.onAnswer = () => assert.fail('on purpose')
  await pass(20 * SECOND)
  log.onAnswer = (answer) => answer
  const token = () => tokenOf({ expiresAt: new Date(Date.now() + SECOND) })
  await pass(379 * SECOND)
  assert.equal(verdictOf(list, token()), true)
  await pass(SECOND)
  assert.equal(verdictOf(list, token()), false)
})

const wide = { sub: 'alice' }
const at = (seconds: number) => new Date(START + seconds * SECOND)

for (const [what, first, second, seconds] of [
  ['names an end', wide, { ...wide, until: at(2000) }, 1999],
  ['names none, beside one with an end', { ...wide, until: at(100) }, wide, 800],
  ['reaches farther', { ...wide, issuedBefore: at(-HOUR) }, wide, 800],
] as const) {
  for (const seen of ['at once', 'later']) {
    test(`one that ${what} is no repetition of the first, and comes ${seen}`, async (t) => {
      const { list, log, pass } = start(t, { maxLifetime: 600 })
      log.entries.push(first)
      if (seen === 'at once') log.entries.push(second)
      attend(t, list)
      await pass(5 * SECOND)
      if (seen === 'later') log.entries.push(second)
      await pass((seconds - 5) * SECOND)
      assert.equal(verdictOf(list, tokenOf({ expiresAt: new Date(Date.now() + SECOND) })), true)
    })
  }
}

test('one that comes again beside an ended one counts', async (t) => {
  const { list, log, pass } = start(t, { maxLifetime: 600 })
  log.onAnswer = () => ({ entries: [...log.entries], cursor: 1 })
  attend(t, list)
  log.entries.push({ sub: 'alice' })
  await pass(2000 * SECOND, 5 * SECOND)
  const token = () => tokenOf({ expiresAt: new Date(Date.now() + SECOND) })
  assert.equal(verdictOf(list, token()), false)
  log.entries.push({ sub: 'alice' })
  await pass(5 * SECOND)
  assert.equal(verdictOf(list, token()), true)
})

test('ended entries leave their room, even if none has come since', async (t) => {
  const { list, log, pass } = start(t, { maxLifetime: 600, maxEntries: 100 })
  for (let i = 0; i < 100; i++) log.entries.push({ sub: `user-${i}` })
  attend(t, list)
  await pass(5 * SECOND)
  assert.equal(list.size(), 100)
  await pass(1000 * SECOND, 5 * SECOND)
  assert.equal(list.size(), 0)
})

test('entries that ended leave their room, even if each answer has a bad one too', async (t) => {
  const { list, log, pass } = start(t, { maxLifetime: 600, whenStale: 'admit' })
  log.onAnswer = () => ({ entries: [{ sub: 'alice' }, {}], cursor: 1 })
  attend(t, list)
  await pass(5 * SECOND)
  assert.equal(list.size(), 1)
  log.onAnswer = () => ({ entries: [{}], cursor: 1 })
  await pass(1000 * SECOND, 5 * SECOND)
  assert.equal(list.size(), 0)
})

test('the clock of a store that is ahead makes no entry last longer', async (t) => {
  const { list, log, pass } = start(t, { maxLifetime: 600 })
  const source: DenyListSource<number> = {
    changes: async (cursor) => ({
      entries: cursor === null ? [{ sub: 'alice' }, { sub: 'bob' }] : [],
      cursor: 1,
      keptAt: [START + 24 * HOUR, START - 500 * SECOND],
    }),
  }
  const ahead = denyListFunction({ ...RULES, maxLifetime: 600 }, source)
  attend(t, list)
  attend(t, ahead)
  log.entries.push({ sub: 'alice' })
  const token = (sub = 'alice') => tokenOf({ sub, expiresAt: new Date(Date.now() + SECOND) })
  await pass(399 * SECOND)
  assert.equal(verdictOf(ahead, token('bob')), true)
  await pass(SECOND)
  assert.equal(verdictOf(ahead, token('bob')), false, 'it was kept long before it was read')
  await pass(490 * SECOND)
  assert.deepEqual([verdictOf(list, token()), verdictOf(ahead, token())], [true, true])
  await pass(20 * SECOND)
  assert.deepEqual([verdictOf(list, token()), verdictOf(ahead, token())], [false, false])
})

test('a list is taken in slices, between which requests have their turn', async (t) => {
  const { list, log } = start(t, { maxEntries: 300_000, maxBytes: 2 ** 30 })
  log.onAnswer = () => ({
    entries: Array.from({ length: 300_000 }, (_, i) => ({ sub: `user-${i}`, until: ENTRY.until })),
    cursor: 1,
  })
  const ready = list.ready()
  let isReady = false
  void ready.then(() => {
    isReady = true
  })
  const turns: number[] = []
  while (!isReady) {
    const begin = performance.now()
    await settled()
    turns.push(performance.now() - begin)
  }
  t.diagnostic(`${turns.length} turns, the longest of ${Math.max(...turns.slice(1)).toFixed(1)} ms`)
  assert.ok(turns.length > 20, `${turns.length} turns`)
  assert.equal(list.size(), 300_000)
})

test('what ends in the midst of a slice is read by nobody, and all is read at the next begin', async (t) => {
  const { list, log } = start(t, { maxEntries: 100_000 })
  for (let i = 0; i < 50_000; i++) log.entries.push({ sub: `user-${i}`, until: ENTRY.until })
  const { close } = attend(t, list)
  while (list.size() === 0) await settled()
  close()
  await settled()
  const { length } = log.asked
  assert.ok(list.size() < 50_000, `${list.size()} were read in one turn`)
  attend(t, list)
  await list.ready()
  assert.equal(list.size(), 50_000)
  assert.deepEqual(log.asked.slice(length, length + 1), [null])
})

test('an answer has no members that Object.prototype has', async (t) => {
  for (const [name, value] of Object.entries({ hasMore: true, notice: 'evil', keptAt: [0] })) {
    Reflect.set(Object.prototype, name, value)
    t.after(() => Reflect.deleteProperty(Object.prototype, name))
  }
  const { list, log } = start(t)
  log.entries.push({ sub: 'alice' })
  log.onAnswer = (answer) => (log.asked.length > 9 ? assert.fail('asked for ever') : answer)
  const { logged } = attend(t, list)
  await settled()
  assert.equal(verdictOf(list), true)
  assert.deepEqual([log.asked, logged], [[null], []])
})
