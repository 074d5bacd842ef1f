import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ERR_AUTH_TENANTS_UNAVAILABLE } from '../../../lib/errors.ts'
import { CachedCallback } from '../../../lib/platform/callbacks/cached-callback.ts'
import type { CallbackRules } from '../../../lib/platform/callbacks/callback-rules.ts'
import { PendingRequests } from '../../../lib/platform/callbacks/pending-requests.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'

const WAITS = new PendingRequests()

/** Answers are texts, and `null` says no. */
type Rules = CallbackRules<string | null>

const RULES: Omit<Rules, 'ask'> = {
  timeout: 5,
  read: (value) => (value === null || typeof value === 'string' ? value : undefined),
  toValue: (answer) => answer,
  refuse: (reason) => new ERR_AUTH_TENANTS_UNAVAILABLE(1, reason),
  keptFor: () => 60,
  maxKept: 10,
}

const refused = (reason: string) => ({ code: 'ERR_AUTH_TENANTS_UNAVAILABLE', reason })

/** A machine on a clock that the test moves, and the keys that its function was asked for. */
function start(t: TestContext, ask: (key: string) => unknown, rules: Partial<Rules> = {}) {
  holdTime(t, { apis: ['Date', 'setTimeout'] })
  const asked: string[] = []
  const answers = new CachedCallback({
    ...RULES,
    ask(key) {
      asked.push(key)
      return ask(key)
    },
    ...rules,
  })
  return {
    answers,
    get: (key: string) => answers.get(key, WAITS),
    /** The keys since the last call. */
    asked: () => asked.splice(0).join(' '),
    pass: (seconds: number) => t.mock.timers.tick(seconds * 1000),
  }
}

/** A function of which the test answers each question itself. */
function byHand() {
  const open: { resolve(value: unknown): void; reject(error: Error): void }[] = []
  const ask = () => new Promise((resolve, reject) => void open.push({ resolve, reject }))
  return { ask, open }
}

const turn = () => new Promise(setImmediate)

test('a failure is shared by the requests that wait for it, and not kept', async (t) => {
  const { ask, open } = byHand()
  const { get, asked } = start(t, ask)
  const together = Promise.allSettled([get('a'), get('a')])
  open[0]?.reject(new TypeError('secret'))
  for (const outcome of await together) {
    assert.equal(outcome.status === 'rejected' && outcome.reason.reason, 'failed (TypeError)')
  }
  const again = get('a')
  open[1]?.resolve('1')
  assert.equal(await again, '1')
  assert.equal(asked(), 'a a')
})

/** Upper-case keys are unknown. */
const known = (key: string) => (key === key.toLowerCase() ? key : null)

const APART: Partial<Rules> = {
  keptFor: (answer) => (answer === null ? 2 : 60),
  refusals: { is: (answer) => answer === null, maxKept: 2 },
}

test('answers that say no have a time and a table of their own', (t) => {
  const { get, asked, pass } = start(t, known, { ...APART, maxKept: 2 })
  assert.deepEqual([get('a'), get('b'), get('X'), get('Y'), get('X')], ['a', 'b', null, null, null])
  assert.equal(asked(), 'a b X Y')
  for (let i = 0; i < 100; i++) void get(`STRANGER-${i}`)
  asked()
  assert.deepEqual([get('a'), get('b'), get('X')], ['a', 'b', null])
  assert.equal(asked(), 'X', 'made-up keys push out made-up keys alone')
  pass(2)
  assert.deepEqual([get('a'), get('X')], ['a', null])
  assert.equal(asked(), 'X')
})

test('a no takes the place of a yes, and a yes that of a no', (t) => {
  let answer: string | null | undefined = 'yes'
  const { get, asked, pass } = start(t, () => answer, { ...APART, maxStale: 1000 })
  assert.equal(get('a'), 'yes')
  answer = null
  pass(60)
  assert.deepEqual([get('a'), get('a')], [null, null])
  assert.equal(asked(), 'a a')
  answer = undefined
  pass(2)
  assert.throws(() => get('a'), refused('gave no usable answer'), 'the yes of before is gone')
  answer = 'yes'
  assert.deepEqual([get('a'), get('a')], ['yes', 'yes'])
})

test('an answer that waited for its place counts from when it was asked for', async (t) => {
  const { ask, open } = byHand()
  const { get, pass } = start(t, ask, { line: { places: 1 } })
  const [first, second] = [get('a'), get('b')]
  pass(4)
  open[0]?.resolve('1')
  await first
  pass(4)
  open[1]?.resolve('2')
  assert.equal(await second, '2', 'nor has it less time for that')
  pass(55.999)
  assert.equal(get('b'), '2')
})

test('what is forgotten while it waits for its place is asked once, and kept', async (t) => {
  const { ask, open } = byHand()
  const { answers, get, asked } = start(t, ask, { line: { places: 1 } })
  const [first, second] = [get('a'), get('b')]
  answers.forget()
  const third = get('b')
  open[0]?.resolve('1')
  await first
  open[1]?.resolve('2')
  assert.deepEqual([await second, await third, get('b'), asked()], ['2', '2', '2', 'a b'])
})

test('nothing in the line is asked after the application has closed', async (t) => {
  const { ask, open } = byHand()
  const { answers, asked } = start(t, ask, { line: { places: 1 } })
  const [one, other] = [new PendingRequests(), new PendingRequests()]
  const first = answers.get('a', other)
  const left = Promise.allSettled([answers.get('b', one), answers.get('c', one)])
  const shared = answers.get('c', other)
  one.end()
  open[0]?.resolve('1')
  await first
  assert.equal(asked(), 'a c', 'c is wanted by another application')
  open[1]?.resolve('3')
  assert.equal(await shared, '3')
  const found = (await left).map((end) => end.status === 'rejected' && end.reason.reason)
  assert.deepEqual(found, Array(2).fill('had not answered when the application closed'))
})

test('after a failure the function rests for a second, and then is asked again', (t) => {
  let isDown = false
  const { get, asked, pass } = start(t, (key) => (isDown ? JSON.parse('') : key), { maxStale: 100 })
  void get('a')
  isDown = true
  pass(60)
  for (const _ of [1, 2, 3]) void get('a')
  assert.equal(asked(), 'a a')
  pass(0.999)
  void get('a')
  assert.equal(asked(), '')
  pass(0.001)
  for (const _ of [1, 2, 3]) void get('a')
  assert.equal(asked(), 'a')
})

test('one request waits for a function that hangs, and the later ones have the last good answer', async (t) => {
  const { ask, open } = byHand()
  const { get, asked, pass } = start(t, ask, { maxStale: 100 })
  const first = get('a')
  open[0]?.resolve('old')
  await first
  pass(60)
  const waiting = get('a')
  pass(5)
  assert.equal(await waiting, 'old')
  assert.equal(asked(), 'a a')
  pass(1)
  assert.deepEqual([get('a'), get('a')], ['old', 'old'])
  assert.equal(asked(), 'a', 'meanwhile it is asked again')
  open[2]?.resolve('new')
  await turn()
  assert.equal(get('a'), 'new')
  pass(60)
  assert.equal(get('a') instanceof Promise, true, 'and then is waited for as before')
})

test('a failure long ago lets no old answer serve: the function is asked first', async (t) => {
  let isDown = false
  let answer = 'old'
  const ask = async () => (isDown ? Promise.reject(new Error('down')) : answer)
  const { get, pass } = start(t, ask, { maxStale: 3600, renews: true })
  await get('a')
  pass(50)
  isDown = true
  assert.equal(get('a'), 'old')
  await turn()
  isDown = false
  answer = 'new'
  pass(1000)
  assert.equal(await get('a'), 'new')
})

test('while a function hangs, what serves its last good answer is fresh too', async (t) => {
  const { ask, open } = byHand()
  const { answers, get, asked, pass } = start(t, ask, { maxStale: 100 })
  const first = get('a')
  open[0]?.resolve('old')
  await first
  pass(60)
  void get('a')
  pass(5)
  await turn()
  asked()
  for (let second = 0; second < 30; second++) {
    pass(1)
    await turn()
    assert.equal(answers.fresh('a'), 'old', `after ${second} seconds`)
  }
  assert.equal(asked(), 'a a a a a', 'each question has its five seconds, and rests for one')
})

test('after a failure the last good answer is fresh up to the end of the next question', async (t) => {
  const { ask, open } = byHand()
  const { answers, get, pass } = start(t, ask, { maxStale: 100 })
  const first = get('a')
  open[0]?.resolve('old')
  await first
  pass(60)
  const second = get('a')
  open[1]?.reject(new Error('down'))
  await second
  pass(5.999)
  assert.equal(answers.fresh('a'), 'old')
  pass(0.001)
  assert.equal(answers.fresh('a'), undefined)
})

test('a failure that comes when the last good answer is too old disturbs nobody', async (t) => {
  const unhandled = t.mock.fn()
  process.on('unhandledRejection', unhandled)
  t.after(() => process.off('unhandledRejection', unhandled))
  const { ask, open } = byHand()
  const { get, pass } = start(t, ask, { maxStale: 10 })
  const first = get('a')
  open[0]?.resolve('old')
  await first
  pass(60)
  const waiting = get('a')
  open[1]?.reject(new Error('down'))
  assert.equal(await waiting, 'old')
  pass(5)
  assert.equal(get('a'), 'old')
  pass(4.999)
  open[2]?.reject(new Error('down'))
  for (let round = 0; round < 3; round++) await turn()
  assert.equal(unhandled.mock.callCount(), 0)
  pass(0.001)
  const outcome = assert.rejects(async () => get('a'), refused('failed (Error)'))
  open[3]?.reject(new Error('down'))
  await outcome
})

test('a known key has its last good answer where no place is free in time', async (t) => {
  const { ask } = byHand()
  const rules = {
    maxStale: 6,
    line: { places: 1, longest: 1 },
    known: { has: (key: string) => key === 'known' },
  }
  const { get, pass } = start(t, (key) => (key === 'a' ? key : ask()), rules)
  void get('a')
  pass(60)
  void Promise.allSettled([get('c'), get('d')])
  assert.equal(get('a'), 'a', 'the line is full')
  pass(6)
  await turn()
  void Promise.allSettled([get('c'), get('d')])
  assert.throws(() => get('a'), refused('was not asked: its line is full'))
})

test('closing ends the questions that are open, and opening again asks anew', async (t) => {
  const { ask, open } = byHand()
  const { answers, get } = start(t, ask)
  answers.open()
  const reason = 'had not answered when the application closed'
  const ended = assert.rejects(async () => get('a'), refused(reason))
  answers.close()
  await ended
  answers.open()
  const again = get('a')
  open[1]?.resolve('1')
  assert.equal(await again, '1')
})

test('an answer that renews is asked for in the background before its time is over', async (t) => {
  let version = 1
  const { get, asked, pass, answers } = start(t, async (key) => `${key}${version}`, {
    renews: true,
  })
  await get('a')
  pass(47.999)
  assert.equal(get('a'), 'a1')
  assert.equal(asked(), 'a')
  version = 2
  pass(0.001)
  assert.deepEqual([get('a'), get('a'), answers.fresh('a')], ['a1', 'a1', 'a1'])
  assert.equal(asked(), 'a', 'asked once, and not waited for')
  await turn()
  assert.deepEqual([get('a'), asked()], ['a2', ''])
})

test('a no does not renew: it is asked for anew when its time is over', (t) => {
  const { get, asked, pass } = start(t, known, { ...APART, renews: true })
  void get('X')
  pass(1.999)
  void get('X')
  assert.equal(asked(), 'X')
  pass(0.001)
  void get('X')
  assert.equal(asked(), 'X')
})

test('a background question that fails changes nothing before the time is over', async (t) => {
  let isDown = false
  const { get, asked, pass } = start(t, (key) => (isDown ? JSON.parse('') : key), { renews: true })
  void get('a')
  isDown = true
  pass(59.9)
  assert.deepEqual([get('a'), get('a')], ['a', 'a'])
  assert.equal(asked(), 'a a')
  pass(0.1)
  assert.throws(() => get('a'), refused('failed (SyntaxError)'))
})

const REPLACED: [by: string, answer: string | null, keptFor: number, isDropped: boolean][] = [
  ['one that is kept for a moment', 'new', 0.001, false],
  ['one that is not kept', 'new', 0, true],
  ['one that is kept for less than no time', 'new', -1, true],
  ['a no', null, 2, true],
]

for (const [by, next, keptFor, isDropped] of REPLACED) {
  test(`an answer that is replaced by ${by} is ${isDropped ? 'dropped' : 'not dropped'}`, (t) => {
    let answer: string | null = null
    const dropped: unknown[] = []
    const { answers, get, pass } = start(t, () => answer, {
      ...APART,
      keptFor: (kept) => (kept === 'old' ? 60 : keptFor),
      onDropped: (kept) => void dropped.push(kept),
    })
    void get('a')
    answer = 'old'
    pass(60)
    void get('a')
    assert.deepEqual(dropped, [], 'nothing was kept before')
    answer = next
    pass(60)
    void get('a')
    assert.deepEqual(dropped, isDropped ? ['old'] : [])
    assert.deepEqual(answers.values(), isDropped ? [] : ['new'])
  })
}
