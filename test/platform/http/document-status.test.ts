import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { changeReporter, DocumentStatus } from '../../../lib/platform/http/document-status.ts'
import { heard } from '../../helpers/app/heard.ts'
import { ageByDate } from '../../helpers/processes/age-by-date.ts'

test('the change of a document is published with its kind, its name, its age and the reason', (t) => {
  const messages = heard(t, 'document')
  const report = changeReporter('tenants', 'of acme')
  report('stale', { state: 'stale', age: 3, failure: 'late' })
  report('fetched', { state: 'fresh', age: null, failure: null })
  assert.deepEqual(messages, [
    { kind: 'tenants', name: 'of acme', event: 'stale', age: 3, reason: 'late' },
    { kind: 'tenants', name: 'of acme', event: 'fetched', age: null, reason: null },
  ])
  assert.ok(messages.every(Object.isFrozen), 'each message is frozen')
})

/** The status of a document that is fresh for 100 seconds, and serves for 50 more. */
function begin(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  ageByDate(t)
  const reported: string[] = []
  const status = new DocumentStatus({ maxAge: 100, maxStale: 50 }, (change, { age, failure }) => {
    reported.push([change, age, failure].filter((each) => each !== null).join(' '))
  })
  const at = (seconds: number) => t.mock.timers.setTime(seconds * 1000)
  return {
    status,
    at,
    look(seconds: number, serves: boolean) {
      at(seconds)
      status.look(Date.now(), serves)
    },
    /** The reports since the last call. */
    reported: () => reported.splice(0),
  }
}

test('a document that is old and not used is reported as stale only when it serves, and as gone in time', (t) => {
  const { status, look, reported } = begin(t)
  status.fetched()
  look(99, true)
  look(110, false)
  assert.deepEqual(reported(), ['fetched 0'])
  look(120, true)
  look(130, true)
  look(151, false)
  look(200, true)
  assert.deepEqual(reported(), ['stale 120', 'gone 151'])
})

test('each change is reported once, and at its time', (t) => {
  const { status, look, reported } = begin(t)
  look(0, true)
  status.fetched()
  look(99.999, true)
  assert.deepEqual(reported(), ['fetched 0'])
  look(100, true)
  look(149.999, true)
  assert.deepEqual(reported(), ['stale 100'])
  look(150, true)
  look(1000, true)
  assert.deepEqual(reported(), ['gone 150'])
  status.fetched()
  look(1100, true)
  assert.deepEqual(reported(), ['fetched 0', 'stale 100'])
})

test('a document that was not looked at while it was stale is reported as gone alone', (t) => {
  const { status, look, reported } = begin(t)
  status.fetched()
  look(150, false)
  assert.deepEqual(reported(), ['fetched 0', 'gone 150'])
})

test('its age counts from when it was fetched', (t) => {
  const { status, at, look, reported } = begin(t)
  at(40)
  status.fetched(0)
  look(99.999, true)
  look(100, true)
  assert.deepEqual(reported(), ['fetched 40', 'stale 100'])
})

test('a failure is reported, and is over with the next document', (t) => {
  const { status, at, reported } = begin(t)
  status.failed('no answer')
  status.fetched()
  at(10)
  status.failed('no answer in time')
  assert.deepEqual(reported(), ['failed no answer', 'fetched 0', 'failed 10 no answer in time'])
})

test('its source may say that there is none any more', (t) => {
  const { status, at, look, reported } = begin(t)
  status.fetched()
  at(10)
  status.ended()
  look(1000, true)
  assert.deepEqual(reported(), ['fetched 0', 'gone'])
  assert.deepEqual(status.state, { state: 'none', age: null, failure: null })
})

test('its state follows from its age', (t) => {
  const { status, at } = begin(t)
  assert.deepEqual(status.state, { state: 'none', age: null, failure: null })
  status.fetched()
  for (const [age, state] of [
    [0, 'fresh'],
    [99.999, 'fresh'],
    [100, 'stale'],
    [149.999, 'stale'],
    [150, 'none'],
  ] as const) {
    at(age)
    assert.deepEqual(status.state, { state, age, failure: null })
  }
})
