import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { controlledDocument, FRESHNESS } from '../../helpers/servers/controlled-document.ts'

const HOUR = 3600_000

/**
 * A document on a machine that may sleep and whose wall clock may be set. No timer notices the
 * sleep, and nothing should notice the setting.
 */
function onMachine(t: TestContext, freshness = FRESHNESS) {
  const controlled = controlledDocument(t, freshness)
  const awake = Date.now
  let slept = 0
  t.mock.method(clock, 'now', () => awake() + slept)
  return {
    ...controlled,
    sleep: (milliseconds: number) => {
      slept += milliseconds
    },
    setWallClock: (by: number) => t.mock.method(Date, 'now', () => awake() + by),
  }
}

test('after a sleep, the next request causes a fetch', async (t) => {
  const { document, loads, succeed, sleep } = onMachine(t)
  document.open()
  await succeed('one')
  sleep(HOUR)
  assert.equal(document.current(), 'one')
  document.current()
  assert.equal(loads.length, 2)
})

test('after a sleep beyond the stale time, a request waits for the new document', async (t) => {
  const { document, loads, succeed, sleep } = onMachine(t)
  document.open()
  await succeed('one')
  sleep(2 * HOUR)
  const waiting = document.settled()
  assert.equal(loads.length, 2)
  await succeed('two')
  assert.equal(await waiting, 'two')
})

for (const [how, by] of [
  ['set back by an hour', -HOUR],
  ['set back by a month', -720 * HOUR],
  ['set forward by a month', 720 * HOUR],
] as const) {
  test(`a wall clock that is ${how} moves no refresh`, async (t) => {
    const { document, loads, pass, succeed, setWallClock } = onMachine(t)
    document.open()
    await succeed('one')
    setWallClock(by)
    await pass(479)
    assert.equal(document.current(), 'one')
    assert.equal(loads.length, 1)
    await pass(1)
    assert.equal(loads.length, 2)
    await succeed('two')
    await pass(480)
    assert.equal(loads.length, 3)
  })

  test(`a wall clock that is ${how} moves neither the end nor the retries`, async (t) => {
    const { document, loads, pass, succeed, fail, setWallClock } = onMachine(t)
    document.open()
    await succeed('one')
    setWallClock(by)
    for (let second = 0; second < 4199; second++) {
      await pass(1)
      assert.equal(document.current(), 'one')
      if (document.running) await fail()
      assert.ok(document.retryAfter <= 600, `the next attempt is ${document.retryAfter} s away`)
    }
    await pass(1)
    assert.equal(document.current(), undefined)
    assert.ok(loads.length > 100 && loads.length < 300, `${loads.length} loads`)
  })
}

test('no timer is set beyond what timers can reach', async (t) => {
  const set = t.mock.method(globalThis, 'setTimeout')
  const { document, loads, pass, succeed } = onMachine(t, { ...FRESHNESS, maxAge: 1e9 })
  document.open()
  await succeed('one')
  await pass(1)
  assert.equal(loads.length, 1)
  const found = document.retryAfter < 2 ** 31 / 1000
  assert.ok(found, `the next attempt is ${document.retryAfter} s away`)
  set.mock.restore()
})
