import assert from 'node:assert/strict'
import { test } from 'node:test'
import { policyNotes } from '../../lib/commands/policy-command.ts'
import { reportOf } from '../helpers/processes/reporting-program.ts'

const DEV_MODE =
  'the application runs in dev mode: each request acts as the mock user, without a token; the matrix is what holds outside of dev mode'
const METRICS = [
  { method: 'GET', url: '/metrics' },
  { method: 'HEAD', url: '/metrics' },
]
const without = (routes: number, first: string) =>
  `not in the matrix: a Fastify instance that listens without a guard, with ${routes} routes, such as ${first}`

test('of a program whose instances are all guarded there is nothing to note', () => {
  assert.deepEqual(policyNotes([reportOf(), reportOf()]), [])
})

test('dev mode is noted, and each instance without a guard, once', () => {
  const unguarded = [METRICS, [{ method: 'GET', url: '/\u001b[2J' }]]
  const reports = [reportOf({ unguarded }), reportOf({ unguarded, isInDevMode: true })]
  assert.deepEqual(policyNotes(reports), [
    DEV_MODE,
    without(2, 'GET /metrics'),
    without(1, 'GET /\\u001b[2J'),
  ])
})
