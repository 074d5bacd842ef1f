import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { RemoteDocument } from '../../../lib/platform/http/remote-document.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import {
  controlledDocument,
  FRESHNESS,
  loadedDocument,
} from '../../helpers/servers/controlled-document.ts'

const URL = 'https://login.test/keys'

test('after a failed refresh the document serves for its stale time, to the second', async (t) => {
  const { document, loads, pass, fail } = await loadedDocument(t)
  for (let second = 1; second < 4200; second++) {
    await pass(1)
    if (document.running) await fail()
    assert.equal(document.current(), 'one')
  }
  await pass(1)
  assert.equal(document.current(), undefined)
  assert.ok(loads.length > 100, `${loads.length} loads`)
})

test('the limit of a load that came in time does not end the next one', async (t) => {
  const { loads, pass } = await loadedDocument(t, { maxAge: 5 })
  await pass(4)
  await pass(1)
  assert.equal(loads.length, 2)
  const found = loads.map(({ signal }) => signal.aborted)
  assert.deepEqual(found, [false, false])
})

test('a load that is under way keeps no process alive', () => {
  const load = () => new Promise<never>(() => {})
  const document = new RemoteDocument({ url: URL, load }, FRESHNESS, { onFailure: () => {} })
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  document.open()
  assert.notEqual(document.running, undefined)
  assert.equal(timers(), before)
  document.close()
})

test('a load that throws at once fails like any other', async () => {
  const failures: string[] = []
  const load = () => {
    throw new TypeError('secret')
  }
  const onFailure = (reason: string) => failures.push(reason)
  const document = new RemoteDocument({ url: URL, load }, FRESHNESS, { onFailure })
  document.open()
  assert.equal(await document.settled(), undefined)
  document.close()
  assert.deepEqual(failures, ['the answer cannot be used'])
})

test('a listener that throws ends neither the process nor the attempts', async () => {
  const load = async () => {
    throw new TypeError('secret')
  }
  const onFailure = () => {
    throw new Error('the log is full')
  }
  const document = new RemoteDocument({ url: URL, load }, { ...FRESHNESS, retry: 0 }, { onFailure })
  document.open()
  assert.equal(await document.reload(), false)
  assert.equal(document.current(), undefined)
  document.close()
})

/** The waits between this many loads in a row that all fail at once. */
async function waits(t: TestContext, count: number): Promise<number[]> {
  const { document, loads, pass, fail } = controlledDocument(t)
  document.open()
  while (loads.length <= count) {
    if (document.running) await fail()
    await pass(0.01)
  }
  return loads.slice(1).map(({ at }, i) => at - (loads[i]?.at ?? 0))
}

test('many processes that fail together do not come back together', async (t) => {
  const sixth = new Set<number>()
  for (let round = 0; round < 10; round++) {
    t.mock.timers.reset()
    sixth.add(Math.round((await waits(t, 6))[5] ?? 0))
  }
  assert.ok(sixth.size > 2, [...sixth].join())
})

test('after a success the waits begin anew', async (t) => {
  const { document, loads, pass, succeed, fail } = controlledDocument(t)
  document.open()
  for (let i = 0; i < 5; i++) {
    await fail()
    await pass(30)
  }
  await succeed('one')
  await pass(480)
  await fail()
  const count = loads.length
  await pass(0.999)
  assert.equal(loads.length, count)
  await pass(0.001)
  assert.equal(loads.length, count + 1)
})

test('retryAfter counts down to the attempt that then takes place', async (t) => {
  const { document, loads, pass, fail } = controlledDocument(t, { retry: 10 })
  document.open()
  await fail()
  assert.equal(document.retryAfter, 10)
  await pass(7.5)
  assert.equal(document.retryAfter, 2.5)
  assert.equal(loads.length, 1)
  await pass(2.5)
  assert.equal(loads.length, 2)
})

test('during a load, the next attempt is after its time limit', async (t) => {
  const { document, pass, succeed } = controlledDocument(t)
  document.open()
  assert.equal(document.retryAfter, 5)
  await pass(2)
  assert.equal(document.retryAfter, 3)
  await succeed('one')
  assert.equal(document.retryAfter, 480)
})

test('mayLoad is false during a load, and until the wait is over', async (t) => {
  const { document, pass, succeed, fail } = controlledDocument(t)
  document.open()
  assert.equal(document.mayLoad, false)
  await succeed('one')
  assert.equal(document.mayLoad, true)
  void document.reload()
  assert.equal(document.mayLoad, false)
  await fail()
  assert.equal(document.mayLoad, false)
  await pass(0.999)
  assert.equal(document.mayLoad, false)
  await pass(0.001)
  assert.equal(document.mayLoad, true)
})

const HOUR = 3600_000

/**
 * A document on a machine that may sleep and whose wall clock may be set. No timer notices the
 * sleep, and nothing should notice the setting.
 */
async function loadedOnMachine(t: TestContext, freshness = FRESHNESS) {
  const controlled = await loadedDocument(t, freshness)
  const awake = Date.now
  let slept = 0
  // Assigned, as the document's clock is: a mock would bring that one back after the test.
  clock.now = () => awake() + slept
  return {
    ...controlled,
    sleep: (milliseconds: number) => {
      slept += milliseconds
    },
    setWallClock: (by: number) => t.mock.method(Date, 'now', () => awake() + by),
  }
}

test('after a sleep, the next request causes a fetch', async (t) => {
  const { document, loads, sleep } = await loadedOnMachine(t)
  sleep(HOUR)
  assert.equal(document.current(), 'one')
  document.current()
  assert.equal(loads.length, 2)
})

test('after a sleep beyond the stale time, a request waits for the new document', async (t) => {
  const { document, loads, succeed, sleep } = await loadedOnMachine(t)
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
    const { document, loads, pass, succeed, setWallClock } = await loadedOnMachine(t)
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
    const { document, loads, pass, fail, setWallClock } = await loadedOnMachine(t)
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
  const { document, loads, pass } = await loadedOnMachine(t, { ...FRESHNESS, maxAge: 1e9 })
  await pass(1)
  assert.equal(loads.length, 1)
  const found = document.retryAfter < 2 ** 31 / 1000
  assert.ok(found, `the next attempt is ${document.retryAfter} s away`)
  set.mock.restore()
})

test('a load that is under way when the document is forgotten serves those who wait for it alone', async (t) => {
  const { document, loads, pass, succeed } = await loadedDocument(t)
  document.forget()
  const first = document.settled()
  document.forget()
  const second = document.settled()
  await succeed('two')
  assert.equal(await first, 'two')
  assert.deepEqual([document.current(), loads.length], [undefined, 3])
  document.forget()
  await succeed('three')
  assert.equal(await second, 'three')
  assert.deepEqual([document.current(), loads.length], [undefined, 4])
  await succeed('four')
  assert.equal(await document.settled(), 'four')
  await pass(60)
  assert.deepEqual([document.current(), loads.length], ['four', 4])
})

test('a document that was forgotten during a load that fails is loaded at once, and then after a rest', async (t) => {
  const { document, loads, pass, fail, failures } = await loadedDocument(t)
  document.forget()
  document.forget()
  const waiting = document.settled()
  await fail()
  assert.equal(loads.length, 3)
  await fail()
  assert.equal(await waiting, undefined)
  await pass(0.9)
  assert.deepEqual([loads.length, failures.length], [3, 2])
  await pass(30)
  assert.equal(loads.length, 4)
})

test('a load that nobody waits for, and may hang, is ended when the document is forgotten', async (t) => {
  const { document, loads, pass, succeed, failures } = await loadedDocument(t)
  await pass(480)
  document.forget()
  assert.deepEqual([loads.length, loads[1]?.signal.aborted], [3, true])
  const waiting = document.settled()
  await succeed('two')
  assert.equal(await waiting, 'two')
  assert.deepEqual([document.current(), loads.length, failures], ['two', 3, []])
})

test('a load that others wait for, since the document is too old, goes on when it is forgotten', async (t) => {
  const { document, loads, pass, fail, succeed } = await loadedDocument(t)
  await pass(480)
  await fail()
  await pass(4200)
  const waiting = document.settled()
  document.forget()
  await succeed('two')
  assert.equal(await waiting, 'two')
  assert.deepEqual([document.current(), loads.at(-1)?.signal.aborted], [undefined, false])
})

test('closing ends the wait of those who asked after the document was forgotten', async (t) => {
  const { document, loads, pass } = await loadedDocument(t)
  document.forget()
  document.forget()
  const waiting = document.settled()
  document.close()
  assert.equal(await waiting, undefined)
  document.open()
  await pass(0)
  assert.deepEqual([loads.length, loads[1]?.signal.aborted], [3, true])
})
