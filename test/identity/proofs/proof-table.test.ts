import assert from 'node:assert/strict'
import crypto, { createHash } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { localProofTable } from '../../../lib/identity/proofs/proof-table.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { usedHeap } from '../../helpers/processes/used-heap.ts'

const START = Date.UTC(2026, 0, 1)
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

const named = (text: string) => createHash('sha256').update(text).digest('base64url')
const keyOf = (jkt: string | number, jti: string | number) =>
  `${named(`${jkt}`)}.${named(`${jti}`)}`

/** A wall clock that may be set, beside one that only goes on. Both stand still by themselves. */
function clocks(t: TestContext) {
  let [wall, monotonic] = [START, 5 * MINUTE]
  t.mock.method(Date, 'now', () => wall)
  clock.now = () => monotonic
  t.after(() => Reflect.deleteProperty(clock, 'now'))
  return {
    pass: (milliseconds: number) => {
      wall += milliseconds
      monotonic += milliseconds
    },
    set: (by: number) => {
      wall += by
    },
    in: (milliseconds: number) => new Date(wall + milliseconds),
  }
}

test('a proof is new once, until it is over', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  const until = time.in(5 * MINUTE)
  assert.equal(isFirst(keyOf('k', 1), until), true)
  for (const wait of [0, MINUTE, 3 * MINUTE, MINUTE - 1, 1]) {
    time.pass(wait)
    assert.equal(isFirst(keyOf('k', 1), until), false, `after ${wait} more`)
  }
  time.pass(HOUR)
  assert.equal(isFirst(keyOf('k', 1), until), false, 'it is over')
})

test('another name or another key is another proof, and another end is none', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  assert.equal(isFirst(keyOf('k', 1), time.in(5 * MINUTE)), true)
  assert.equal(isFirst(keyOf('k', 2), time.in(5 * MINUTE)), true)
  assert.equal(isFirst(keyOf('other', 1), time.in(5 * MINUTE)), true)
  for (const end of [1, MINUTE, 4 * MINUTE, 6 * MINUTE, HOUR]) {
    assert.equal(isFirst(keyOf('k', 1), time.in(end)), false, `${end}`)
  }
  assert.equal(isFirst.size, 3)
})

test('proofs leave memory within the minute in which they are over', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  for (let i = 0; i < 1000; i++) isFirst(keyOf(i, i), time.in((i % 10) * MINUTE + 1))
  assert.equal(isFirst.size, 1000)
  time.pass(5 * MINUTE)
  assert.equal(isFirst.size, 500)
  time.pass(5 * MINUTE)
  assert.equal(isFirst.size, 0)
})

for (const by of [-10 * HOUR, -2 * MINUTE, -1, 1, 2 * MINUTE, 10 * HOUR]) {
  test(`a clock that is set by ${by} ms brings no proof back, and refuses none`, (t) => {
    const time = clocks(t)
    const isFirst = localProofTable()
    const until = time.in(5 * MINUTE)
    isFirst(keyOf('k', 1), until)
    time.set(by)
    assert.equal(isFirst(keyOf('k', 1), until), false)
    assert.equal(isFirst(keyOf('k', 2), time.in(5 * MINUTE)), true)
    time.pass(10 * MINUTE)
    assert.equal(isFirst(keyOf('k', 1), until), false)
    assert.equal(isFirst(keyOf('k', 3), time.in(5 * MINUTE)), true)
    time.set(-by)
    assert.equal(isFirst(keyOf('k', 1), until), false)
  })
}

test('a proof that was dropped does not come back when the clock is set back', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  const until = time.in(5 * MINUTE)
  isFirst(keyOf('k', 1), until)
  time.pass(HOUR)
  assert.equal(isFirst.size, 0)
  time.set(-HOUR)
  assert.equal(isFirst(keyOf('k', 1), until), false)
})

test('a clock that was right again after an hour behind refuses no fresh proof meanwhile', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  const until = time.in(5 * MINUTE)
  isFirst(keyOf('k', 1), until)
  time.set(-HOUR)
  time.pass(10 * MINUTE)
  assert.equal(isFirst.size, 1, 'its end has not come on the wall clock')
  time.pass(50 * MINUTE)
  assert.equal(isFirst(keyOf('k', 2), until), true)
  assert.equal(isFirst(keyOf('k', 1), until), false)
})

test('a clock that is set forth for seconds and back again refuses no proof, and brings none back', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  const until = time.in(5 * MINUTE)
  isFirst(keyOf('k', 1), until)
  time.pass(2 * SECOND)
  time.set(HOUR)
  assert.equal(isFirst.size, 1)
  time.pass(2 * SECOND)
  time.set(-HOUR)
  assert.equal(isFirst(keyOf('k', 1), until), false)
  assert.equal(isFirst(keyOf('k', 2), until), true)
})

test('a clock that was ahead for minutes, and is corrected, refuses no fresh proof', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  time.set(HOUR)
  const ahead: Date[] = []
  for (let minute = 0; minute < 10; minute++) {
    ahead.push(time.in(5 * MINUTE))
    assert.equal(isFirst(keyOf('k', minute), time.in(5 * MINUTE)), true)
    time.pass(MINUTE)
  }
  time.pass(10 * MINUTE)
  assert.equal(isFirst.size, 0)
  time.set(-HOUR)
  for (const [minute, until] of ahead.entries()) {
    assert.equal(isFirst(keyOf('k', minute), until), false, 'no used one comes back')
  }
  for (let minute = 0; minute < 30; minute++) {
    assert.equal(isFirst(keyOf('k', 100 + minute), time.in(5 * MINUTE)), true, `minute ${minute}`)
    time.pass(MINUTE)
  }
})

test('of more dropped minutes than are remembered, all before the latest count as seen', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  const first = time.in(5 * MINUTE)
  for (let minute = 0; minute < 1500; minute++) {
    isFirst(keyOf('k', minute), time.in(5 * MINUTE))
    time.pass(MINUTE)
  }
  time.set(-30 * HOUR)
  assert.equal(isFirst(keyOf('k', 0), first), false)
  assert.equal(isFirst(keyOf('other', 0), new Date(first.getTime() - HOUR)), false)
})

for (const [order, step] of [
  ['in any order', 7919],
  ['later and later', 1],
] as const) {
  test(`ends that are far apart, or far ahead, make no bucket each: ${order}`, (t) => {
    const time = clocks(t)
    const isFirst = localProofTable()
    const ends = Array.from({ length: 2000 }, (_, i) => ((i * step) % 2000) * HOUR)
    const heap = process.memoryUsage().arrayBuffers
    for (const [i, end] of ends.entries()) assert.equal(isFirst(keyOf(i, i), time.in(end)), true)
    assert.ok(process.memoryUsage().arrayBuffers - heap < 2 * 2 ** 20, 'at most 64 of 16 KiB')
    time.pass(1000 * HOUR)
    for (const [i, end] of ends.entries()) {
      assert.equal(isFirst(keyOf(i, i), new Date(START + end)), false, `${i}`)
    }
  })
}

test('100 000 proofs of one key within a minute are all new, and then all seen', (t) => {
  const time = clocks(t)
  const isFirst = localProofTable()
  const keys = Array.from({ length: 100_000 }, (_, i) => keyOf('k', i))
  const until = time.in(5 * MINUTE)
  const found = keys.filter((key) => !isFirst(key, until))
  assert.deepEqual(found, [])
  const shown = keys.filter((key) => isFirst(key, until))
  assert.deepEqual(shown, [])
})

/** The same counters in each run: with a secret, two keys may share one. */
function fixedSecret(t: TestContext): void {
  t.mock.method(crypto, 'randomFillSync', (numbers: Int32Array) =>
    numbers.map((_, at) => Math.imul(at + 1, 0x9e3779b1)),
  )
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

const FULL = { message: 'the table of proofs is full' }

test('a full table throws, knows what it holds, and has room again when that is over', (t) => {
  fixedSecret(t)
  const time = clocks(t)
  const isFirst = localProofTable({ max: 100 })
  const note = (i: number) => isFirst(keyOf(i, i), time.in(5 * MINUTE))
  for (let i = 0; i < 100; i++) assert.equal(note(i), true)
  assert.throws(() => note(100), FULL)
  assert.equal(note(99), false)
  assert.equal(isFirst.size, 100)
  time.pass(6 * MINUTE)
  assert.equal(note(100), true)
})

test('in a full table a key beyond a quarter is refused first, and others have a quarter more', (t) => {
  fixedSecret(t)
  const time = clocks(t)
  const isFirst = localProofTable({ max: 100 })
  const note = (jkt: string, jti: number) => isFirst(keyOf(jkt, jti), time.in(5 * MINUTE))
  for (let i = 0; i < 100; i++) note('greedy', i)
  assert.throws(() => note('greedy', 100), FULL)
  for (let i = 0; i < 25; i++) assert.equal(note(`other-${i}`, i), true)
  assert.throws(() => note('other', 0), FULL)
  assert.throws(() => note('greedy', 100), FULL)
  assert.equal(isFirst.size, 125)
})

test('others have no more room than a key holds beyond its quarter', (t) => {
  fixedSecret(t)
  const time = clocks(t)
  const isFirst = localProofTable({ max: 100 })
  const note = (jkt: string, jti: number) => isFirst(keyOf(jkt, jti), time.in(5 * MINUTE))
  for (let i = 0; i < 28; i++) note('greedy', i)
  for (let i = 0; i < 72; i++) note(`other-${i}`, i)
  assert.throws(() => note('greedy', 28), FULL)
  for (let i = 0; i < 3; i++) assert.equal(note(`more-${i}`, i), true)
  assert.throws(() => note('more', 0), FULL)
})

test('in a full table a key that holds a quarter gets no more, as long as others may', (t) => {
  fixedSecret(t)
  const time = clocks(t)
  const isFirst = localProofTable({ max: 100 })
  const note = (jkt: string, jti: number) => isFirst(keyOf(jkt, jti), time.in(5 * MINUTE))
  for (let i = 0; i < 25; i++) note('quarter', i)
  for (let i = 0; i < 75; i++) note('greedy', i)
  assert.throws(() => note('quarter', 25), FULL)
  assert.equal(note('other', 0), true)
})

test('what has left counts for no key', (t) => {
  fixedSecret(t)
  const time = clocks(t)
  const isFirst = localProofTable({ max: 100 })
  for (let i = 0; i < 100; i++) isFirst(keyOf('greedy', i), time.in(MINUTE))
  time.pass(2 * MINUTE)
  for (let i = 0; i < 25; i++) isFirst(keyOf('greedy', i + 100), time.in(5 * MINUTE))
  for (let i = 0; i < 75; i++) isFirst(keyOf(i, i), time.in(5 * MINUTE))
  assert.throws(() => isFirst(keyOf('other', 0), time.in(5 * MINUTE)), FULL, 'nobody has too much')
})

for (const max of [1, 2, 3, 4, 5]) {
  test(`a table of ${max} holds ${max} of distinct keys`, (t) => {
    fixedSecret(t)
    const isFirst = localProofTable({ max })
    const until = new Date(Date.now() + MINUTE)
    for (let i = 0; i < max; i++) assert.equal(isFirst(keyOf(i, i), until), true)
    assert.throws(() => isFirst(keyOf(max, max), until), FULL)
  })
}

test('what is no text, or no time, is refused', () => {
  const isFirst = localProofTable()
  const ask =
    (...args: unknown[]) =>
    () =>
      Reflect.apply(isFirst, undefined, args)
  const until = new Date()
  for (const key of [undefined, null, 7, {}, ['k']]) assert.throws(ask(key, until), TypeError)
  for (const end of [undefined, null, 7, '2026-01-01', {}, new Date(Number.NaN)]) {
    assert.throws(ask('k', end), TypeError)
  }
  assert.equal(isFirst.size, 0)
})

for (const [what, jkt] of [
  ['of one key', () => 'k'],
  ['of a key each', (i: number) => `${i}`],
] as const) {
  test(`200 000 proofs ${what} take at most 150 bytes each`, async (t) => {
    const memory = () => usedHeap() + process.memoryUsage().arrayBuffers
    // The table of the test before goes in one of the next turns.
    for (let turn = 0; turn < 5; turn++) {
      await setImmediate()
      memory()
    }
    const isFirst = localProofTable()
    const before = memory()
    const now = Date.now()
    for (let i = 0; i < 200_000; i++) {
      isFirst(`${jkt(i).padStart(43, '0')}.${i}`, new Date(now + (i % 600) * SECOND + MINUTE))
    }
    const each = (memory() - before) / isFirst.size
    t.diagnostic(`${each.toFixed(1)} bytes`)
    assert.equal(isFirst.size, 200_000)
    assert.ok(each > 20 && each <= 150, `${each} bytes`)
  })
}
