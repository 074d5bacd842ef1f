import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { type TestContext, test } from 'node:test'
import { Line, type LineRules, RecentKeys } from '../../../lib/platform/callbacks/line.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'

/** A line on a clock that the test moves, and questions that the test answers by their keys. */
function start(t: TestContext, rules: LineRules, patience = 5) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const line = new Line(rules, patience)
  const asked: string[] = []
  const refused: string[] = []
  const open = new Map<string, (answer: string) => void>()
  const enter = (key: string, isWanted = true) =>
    line.enter({
      key,
      run: () => {
        asked.push(key)
        return new Promise<string>((resolve) => void open.set(key, resolve))
      },
      isWanted: () => isWanted,
      refuse: (reason) => new Error(reason),
    })
  return {
    line,
    enter,
    /** Questions that come one after another. Gives the keys of those that are refused then. */
    async come(...keys: string[]) {
      for (const key of keys) (async () => enter(key))().catch(() => refused.push(key))
      await turn()
      return refused.splice(0).join(' ')
    },
    /** The keys since the last call. */
    asked: () => asked.splice(0).join(' '),
    async answer(key: string) {
      open.get(key)?.(key)
      await turn()
    },
    pass: (seconds: number) => t.mock.timers.tick(seconds * 1000),
  }
}

const turn = () => new Promise(setImmediate)

const FULL = { message: 'was not asked: its line is full' }
const LATE = { message: 'was not asked: no place in time' }

test('a line is as long as a thousand, where nothing else is said', async (t) => {
  const { enter } = start(t, { places: 1 })
  for (let at = 0; at <= 1000; at++) void enter(String(at))
  assert.throws(() => enter('one more'), FULL)
})

test('who waits too long is refused, and its place in the line is free', async (t) => {
  const { enter, asked, answer, pass } = start(t, { places: 1, longest: 1 })
  void enter('a')
  const late = assert.rejects(async () => enter('b'), LATE)
  pass(4.999)
  assert.throws(() => enter('c'), FULL)
  pass(0.001)
  await late
  const next = enter('d')
  await answer('a')
  assert.equal(asked(), 'a d')
  pass(60)
  await answer('d')
  assert.equal(await next, 'd', 'who has a place does not wait for one')
})

/** The first letter says whose question it is. */
const SHARES = { shareOf: (key: string) => key.charAt(0) }

test('a place that becomes free is for the share that has fewest', async (t) => {
  const { enter, asked, answer } = start(t, { places: 4, ...SHARES })
  for (const key of ['a1', 'a2', 'b1', 'b2', 'a3', 'b3', 'a4', 'c1', 'c2']) void enter(key)
  assert.equal(asked(), 'a1 a2 b1 b2')
  await answer('a1')
  assert.equal(asked(), 'c1', 'it has none')
  await answer('b1')
  assert.equal(asked(), 'a3', 'all have one: it waits for longest')
  await answer('a2')
  assert.equal(asked(), 'c2')
  await answer('c1')
  assert.equal(asked(), 'b3')
})

test('shares that have nothing get a free place in turn', async (t) => {
  const { enter, asked, answer } = start(t, { places: 1, ...SHARES })
  for (const key of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1']) void enter(key)
  for (const key of ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']) await answer(key)
  assert.equal(asked(), 'a1 b1 c1 a2 b2 a3 a4')
})

test('in a full line, the newest of the share that has most gives way', async (t) => {
  const { come } = start(t, { places: 2, longest: 5, ...SHARES })
  const steps: [keys: string, refused: string, why?: string][] = [
    ['a1 b1', '', 'they have places'],
    ['a2 a3 a4 a5 b2', '', 'the line is full'],
    ['a6', 'a6'],
    ['b3', 'a5'],
    ['b4', 'b4', 'b would have more than a then'],
    ['c1', 'a4'],
    ['c2', 'c2'],
  ]
  for (const [keys, refused, why] of steps) {
    assert.equal(await come(...keys.split(' ')), refused, why ?? keys)
  }
})

test('a share alone has the whole line, and half of it when another one comes', async (t) => {
  const { come } = start(t, { places: 2, ...SHARES })
  const of = (share: string, from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, at) => `${share}${from + at}`)
  assert.equal(await come(...of('a', 0, 1000)), '')
  assert.equal(await come('a1001'), 'a1001')
  assert.equal(await come(...of('b', 0, 500)), of('a', 501, 1000).reverse().join(' '))
  assert.equal(await come('b501'), 'b501')
})

test('where there is one place only, each share gets it', async (t) => {
  const { enter, asked, answer } = start(t, { places: 1, longest: 1, ...SHARES })
  void enter('a1')
  void enter('a2')
  assert.throws(() => enter('b1'), FULL)
  await answer('a1')
  assert.equal(asked(), 'a1 a2')
})

test('answers that are there at once hold no place, however long the line is', async () => {
  const line = new Line({ places: 1, longest: 15_000 }, 5)
  const visit = { key: '', isWanted: () => true, refuse: Error }
  let free = (): void => {}
  const run = () =>
    new Promise<void>((resolve) => {
      free = resolve
    })
  void line.enter({ ...visit, run })
  const waiting = Array.from({ length: 15_000 }, (_, at) => line.enter({ ...visit, run: () => at }))
  free()
  assert.equal((await Promise.all(waiting)).at(-1), 14_999)
  assert.equal(line.enter({ ...visit, run: () => 'at once' }), 'at once')
})

for (const [how, fail] of [
  ['at once', () => JSON.parse('')],
  ['later', async () => JSON.parse('')],
] as const) {
  test(`a question that fails ${how} leaves its place`, async (t) => {
    const { line, enter, asked, answer } = start(t, { places: 1 })
    const visit = { key: '', isWanted: () => true, refuse: Error }
    await assert.rejects(async () => line.enter({ ...visit, run: fail }), SyntaxError)
    void enter('a')
    const failed = assert.rejects(async () => line.enter({ ...visit, run: fail }), SyntaxError)
    void enter('b')
    await answer('a')
    await failed
    await turn()
    assert.equal(asked(), 'a b')
  })
}

test('a question runs in the context of the one who asks', async (t) => {
  const { line, enter, answer } = start(t, { places: 1 })
  const who = new AsyncLocalStorage<string>()
  const visit = { key: '', isWanted: () => true, refuse: Error }
  who.run('alice', () => void enter('a'))
  const seen = who.run('bob', () => line.enter({ ...visit, run: () => who.getStore() }))
  await answer('a')
  assert.equal(await seen, 'bob')
})

test('of too many keys those are known that were good last', () => {
  const keys = new RecentKeys(2)
  for (const key of ['a', 'b', 'a', 'c']) keys.note(key)
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => keys.has(key)),
    [true, false, true],
  )
})

test('of too many keys the share that has most loses its oldest', () => {
  const keys = new RecentKeys(3)
  keys.note('mine', 0, 'a')
  for (const key of ['b1', 'b2', 'b3', 'b4']) keys.note(key, undefined, 'b')
  assert.deepEqual(
    ['mine', 'b1', 'b2', 'b3', 'b4'].map((key) => keys.shareOf(key)),
    ['a', '', '', 'b', 'b'],
  )
})

test('a key is recent for an hour after it was good', (t) => {
  let now = 0
  t.mock.method(clock, 'now', () => now)
  const keys = new RecentKeys()
  keys.note('noted')
  keys.note('good until later', 1000)
  const found = [3_599_999, 3_600_000, 3_600_999, 3_601_000].map((time) => {
    now = time
    return [keys.has('noted'), keys.has('good until later')]
  })
  assert.deepEqual(found, [
    [true, true],
    [false, true],
    [false, true],
    [false, false],
  ])
})

test('10 000 keys are recent, and a further one takes the place of the oldest', () => {
  const keys = new RecentKeys()
  for (let at = 0; at <= 10_000; at++) keys.note(`${at}`)
  assert.deepEqual([keys.has('0'), keys.has('1'), keys.has('10000')], [false, true, true])
})
