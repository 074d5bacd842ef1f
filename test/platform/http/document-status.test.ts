import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { changeReporter, DocumentStatus } from '../../../lib/platform/http/document-status.ts'
import { heard } from '../../helpers/app/heard.ts'
import { ageByDate } from '../../helpers/processes/age-by-date.ts'

test('what becomes of a document is told with its kind, its name, its age and the reason', (t) => {
  const messages = heard(t, 'document')
  const tell = changeReporter('tenants', 'of acme')
  tell('stale', { state: 'stale', age: 3, failure: 'late' })
  tell('fetched', { state: 'fresh', age: null, failure: null })
  assert.deepEqual(messages, [
    { kind: 'tenants', name: 'of acme', event: 'stale', age: 3, reason: 'late' },
    { kind: 'tenants', name: 'of acme', event: 'fetched', age: null, reason: null },
  ])
  assert.ok(messages.every(Object.isFrozen), 'each message is frozen')
})

/** The story of a document that is fresh for 100 seconds, and serves for 50 more. */
function begin(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  ageByDate(t)
  const told: string[] = []
  const story = new DocumentStatus({ maxAge: 100, maxStale: 50 }, (change, { age, failure }) => {
    told.push([change, age, failure].filter((each) => each !== null).join(' '))
  })
  const at = (seconds: number) => t.mock.timers.setTime(seconds * 1000)
  return {
    story,
    at,
    look(seconds: number, serves: boolean) {
      at(seconds)
      story.look(Date.now(), serves)
    },
    /** What was told since the last call. */
    told: () => told.splice(0),
  }
}

test('a document that is old and not used is told as stale only when it serves, and as gone in time', (t) => {
  const { story, look, told } = begin(t)
  story.fetched()
  look(99, true)
  look(110, false)
  assert.deepEqual(told(), ['fetched 0'])
  look(120, true)
  look(130, true)
  look(151, false)
  look(200, true)
  assert.deepEqual(told(), ['stale 120', 'gone 151'])
})

test('each change is told once, and at its time', (t) => {
  const { story, look, told } = begin(t)
  look(0, true)
  story.fetched()
  look(99.999, true)
  assert.deepEqual(told(), ['fetched 0'])
  look(100, true)
  look(149.999, true)
  assert.deepEqual(told(), ['stale 100'])
  look(150, true)
  look(1000, true)
  assert.deepEqual(told(), ['gone 150'])
  story.fetched()
  look(1100, true)
  assert.deepEqual(told(), ['fetched 0', 'stale 100'])
})

test('a document that was not looked at while it was stale is told as gone alone', (t) => {
  const { story, look, told } = begin(t)
  story.fetched()
  look(150, false)
  assert.deepEqual(told(), ['fetched 0', 'gone 150'])
})

test('its age counts from when it was fetched', (t) => {
  const { story, at, look, told } = begin(t)
  at(40)
  story.fetched(0)
  look(99.999, true)
  look(100, true)
  assert.deepEqual(told(), ['fetched 40', 'stale 100'])
})

test('a failure is told, and is over with the next document', (t) => {
  const { story, at, told } = begin(t)
  story.failed('no answer')
  story.fetched()
  at(10)
  story.failed('no answer in time')
  assert.deepEqual(told(), ['failed no answer', 'fetched 0', 'failed 10 no answer in time'])
})

test('its source may say that there is none any more', (t) => {
  const { story, at, look, told } = begin(t)
  story.fetched()
  at(10)
  story.ended()
  look(1000, true)
  assert.deepEqual(told(), ['fetched 0', 'gone'])
  assert.deepEqual(story.state, { state: 'none', age: null, failure: null })
})

test('its state follows from its age', (t) => {
  const { story, at } = begin(t)
  assert.deepEqual(story.state, { state: 'none', age: null, failure: null })
  story.fetched()
  for (const [age, state] of [
    [0, 'fresh'],
    [99.999, 'fresh'],
    [100, 'stale'],
    [149.999, 'stale'],
    [150, 'none'],
  ] as const) {
    at(age)
    assert.deepEqual(story.state, { state, age, failure: null })
  }
})
