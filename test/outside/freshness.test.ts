import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastAge, refreshAge } from '../../lib/outside/freshness.ts'

const RULES = { timeout: 5, retry: 1, retryMax: 30 }

test('a document is fetched again at four fifths of its age, and serves for its stale time too', () => {
  const freshness = { ...RULES, maxAge: 100, maxStale: 300 }
  assert.deepEqual([refreshAge(freshness), lastAge(freshness)], [80_000, 400_000])
})

test('with a maxAge of 0 it is fetched again at once', () => {
  const freshness = { ...RULES, maxAge: 0, maxStale: 0 }
  assert.deepEqual([refreshAge(freshness), lastAge(freshness)], [0, 0])
})
