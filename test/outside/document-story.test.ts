import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DocumentStory } from '../../lib/outside/document-story.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'

test('a document that is old and not used is told as stale only when it serves, and as gone in time', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 })
  ageByDate(t)
  const told: string[] = []
  const story = new DocumentStory({ maxAge: 100, maxStale: 50 }, (change, { age }) => {
    told.push(`${change} ${age}`)
  })
  const look = (seconds: number, serves: boolean) => {
    t.mock.timers.setTime(seconds * 1000)
    story.look(Date.now(), serves)
  }
  story.fetched()
  look(99, true)
  look(110, false)
  assert.deepEqual(told, ['fetched 0'])
  look(120, true)
  look(130, true)
  look(151, false)
  look(200, true)
  assert.deepEqual(told, ['fetched 0', 'stale 120', 'gone 151'])
})
