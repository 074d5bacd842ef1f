import assert from 'node:assert/strict'
import os from 'node:os'
import { test } from 'node:test'
import { Clock, clock } from '../../../lib/platform/runtime/clock.ts'

const HOUR = 3600_000

/** A clock of a machine that a test lets run and sleep. In milliseconds. */
function machine(awake = 5000, sinceBoot = 987_654_320) {
  const state = { awake, sinceBoot, looks: 0 }
  const readSinceBoot = (): number => {
    state.looks += 1
    return state.sinceBoot
  }
  const run = (time: number): void => {
    state.awake += time
    state.sinceBoot += time
  }
  const clock = new Clock(() => state.awake, readSinceBoot)
  return { state, run, clock }
}

test('a clock counts the time that a machine runs', () => {
  const { clock, run } = machine()
  const begin = clock.now()
  run(99)
  assert.equal(clock.now() - begin, 99)
  run(48 * HOUR)
  assert.equal(clock.now() - begin, 48 * HOUR + 99)
})

test('a clock counts each sleep of the machine, at the next look', () => {
  const { clock, run, state } = machine()
  const begin = clock.now()
  run(1000)
  state.sinceBoot += 8 * HOUR
  assert.equal(clock.now() - begin, 8 * HOUR + 1000)
  run(50)
  state.sinceBoot += HOUR
  assert.equal(clock.now() - begin, 8 * HOUR + 1050, 'between two looks it is not known yet')
  run(50)
  assert.equal(clock.now() - begin, 9 * HOUR + 1100)
})

test('the slow clock is read ten times a second at most', () => {
  const { clock, run, state } = machine()
  for (let millisecond = 0; millisecond < 1000; millisecond++) {
    clock.now()
    run(1)
  }
  assert.equal(state.looks, 10)
})

test('a rounding error does not count as sleep', () => {
  const { clock, run, state } = machine()
  const begin = clock.now()
  for (const rounded of [-9, 9, 990, -990]) {
    state.sinceBoot += rounded
    run(100)
    clock.now()
    state.sinceBoot -= rounded
  }
  assert.equal(clock.now() - begin, 400)
})

test('a sleep counts from a second on, and each later one from a second more', () => {
  const { clock, run, state } = machine()
  const begin = clock.now()
  for (const [slept, counted] of [
    [999, 0],
    [1, 1000],
    [999, 1000],
    [1, 2000],
  ] as const) {
    state.sinceBoot += slept
    run(100)
    const ran = state.awake - 5000
    assert.equal(clock.now() - begin - ran, counted)
  }
})

test('a sleep counts in full if the boot of the system is later than that of the process', () => {
  const { clock, run, state } = machine(50_000, 20)
  const begin = clock.now()
  state.sinceBoot += HOUR
  run(100)
  assert.equal(clock.now() - begin, HOUR + 100)
})

test('a sleep is found by the uptime of the system', (t) => {
  let uptime = 1000
  t.mock.method(os, 'uptime', () => uptime)
  const { state } = machine()
  const clock = new Clock(() => state.awake)
  const begin = clock.now()
  uptime += 60.1
  state.awake += 100
  assert.equal(Math.round(clock.now() - begin), 60_100)
})

test('a clock never goes backwards, even if the time since boot does', () => {
  const { clock, run, state } = machine()
  const begin = clock.now()
  state.sinceBoot += HOUR
  run(100)
  assert.equal(clock.now() - begin, HOUR + 100)
  state.sinceBoot = 7
  run(100)
  assert.equal(clock.now() - begin, HOUR + 200)
})

test('without the time since boot, time goes by as the process sees it', () => {
  const { run, state } = machine()
  const clock = new Clock(
    () => state.awake,
    () => Number.NaN,
  )
  const begin = clock.now()
  run(HOUR)
  assert.equal(clock.now() - begin, HOUR)
})

test('a system that does not give its uptime causes no failing request', (t) => {
  t.mock.method(os, 'uptime', () => {
    throw new Error('not permitted')
  })
  const clock = new Clock()
  assert.ok(Number.isFinite(clock.now()), 'there is a time')
})

test("the package's clock ignores the wall clock and fake timers", (t) => {
  const begin = clock.now()
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  t.mock.method(performance, 'now', () => 0)
  for (const time of [0, 4_000_000_000_000, 1]) {
    t.mock.timers.setTime(time)
    const passed = clock.now() - begin
    assert.ok(passed >= 0 && passed < HOUR, `${passed} ms have passed`)
  }
})
