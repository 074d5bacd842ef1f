import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DocumentStatus } from '../../../lib/platform/http/document-status.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'

/** The status of a document that is fresh for 100 seconds, and serves for 50 more. */
function begin(t: TestContext) {
  holdTime(t, { apis: ['Date'], now: 0 })
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
