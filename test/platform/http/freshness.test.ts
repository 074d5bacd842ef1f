import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type Freshness,
  LoadSchedule,
  wholeFreshness,
} from '../../../lib/platform/http/freshness.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { controlledDocument, FRESHNESS } from '../../helpers/servers/controlled-document.ts'

/** The schedule of a document on a clock that the test moves. */
function begin(t: TestContext, freshness: Partial<Freshness> = {}) {
  holdTime(t, { apis: ['Date'], now: 0 })
  const schedule = new LoadSchedule(wholeFreshness({ ...FRESHNESS, ...freshness }))
  const at = (seconds: number) => t.mock.timers.setTime(seconds * 1000)
  const serves = () => schedule.serves(Date.now())
  /** Seconds from now on after which it serves no more, to the millisecond. */
  const servesFor = (seconds: number) => {
    const now = Date.now()
    t.mock.timers.setTime(now + seconds * 1000 - 1)
    assert.equal(serves(), true, `up to ${seconds} s`)
    t.mock.timers.setTime(now + seconds * 1000)
    assert.equal(serves(), false, `from ${seconds} s on`)
  }
  return { schedule, at, serves, servesFor }
}

for (const isLazy of [true, false]) {
  const kind = isLazy ? 'on demand' : 'by a timer'

  test(`a document that is old at once serves for a moment, and is due then (${kind})`, (t) => {
    const { schedule, servesFor } = begin(t, { maxAge: 0, maxStale: 0, isLazy })
    schedule.succeeded()
    assert.equal(schedule.retryAfter, 0.02)
    servesFor(0.02)
  })
}

for (const isLazy of [false, true]) {
  const kind = isLazy ? 'on demand' : 'by a timer'

  test(`the state has age and last failure of a document that is loaded ${kind}`, async (t) => {
    const { document, pass, succeed, fail } = controlledDocument(t, { isLazy, timeout: 100_000 })
    const shows = (state: string, age: number | null, failure: string | null = null) =>
      assert.deepEqual(document.state(), { state, age, failure })
    shows('none', null)
    document.open()
    document.current()
    shows('none', null)
    await fail()
    shows('none', null, 'answered with status 500')
    void document.reload()
    shows('none', null, 'answered with status 500')
    await fail(new TypeError('secret'))
    shows('none', null, 'the answer cannot be used')
    void document.reload()
    await succeed('one')
    shows('fresh', 0)
    await pass(7.5)
    shows('fresh', 7.5)
    await pass(592.4)
    shows('fresh', 599.9)
    await pass(0.1)
    shows('stale', 600)
    await pass(3599.9)
    shows('stale', 4199.9)
    void document.reload()
    await fail()
    shows('stale', 4199.9, 'answered with status 500')
    await pass(0.1)
    shows('none', 4200, 'answered with status 500')
    void document.reload()
    await succeed('two')
    shows('fresh', 0)
  })
}

test('a load that closing has ended is no failure', async (t) => {
  const { document, pass } = controlledDocument(t)
  document.open()
  document.close()
  await pass(0)
  assert.deepEqual(document.state(), { state: 'none', age: null, failure: null })
})

test('after a failure an old document serves to the end of the next attempt, its wait included', (t) => {
  const { schedule, at, servesFor } = begin(t, { isLazy: true, patience: 20 })
  schedule.succeeded()
  at(600)
  schedule.failed()
  servesFor(1 + 20 + 5)
})
