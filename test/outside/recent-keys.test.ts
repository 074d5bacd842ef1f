import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentKeys } from '../../lib/outside/recent-keys.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'

test('a key that was good is known for an hour', (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  ageByDate(t)
  const keys = new RecentKeys()
  keys.note('a')
  t.mock.timers.tick(3_599_999)
  assert.deepEqual([keys.has('a'), keys.has('b')], [true, false])
  t.mock.timers.tick(1)
  assert.equal(keys.has('a'), false)
  keys.note('a')
  assert.equal(keys.has('a'), true)
  keys.delete('a')
  assert.equal(keys.has('a'), false)
})

test('of too many keys those are known that were good last', () => {
  const keys = new RecentKeys(2)
  for (const key of ['a', 'b', 'a', 'c']) keys.note(key)
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => keys.has(key)),
    [true, false, true],
  )
})
