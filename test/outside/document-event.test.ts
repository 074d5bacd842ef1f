import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tellingOf } from '../../lib/outside/document-state.ts'
import { heard } from '../helpers/app/heard.ts'

test('what becomes of a document is told with its kind, its name, its age and the reason', (t) => {
  const messages = heard(t, 'document')
  const tell = tellingOf('tenants', 'of acme')
  tell('stale', { state: 'stale', age: 3, failure: 'late' })
  tell('fetched', { state: 'fresh', age: null, failure: null })
  assert.deepEqual(messages, [
    { kind: 'tenants', name: 'of acme', event: 'stale', age: 3, reason: 'late' },
    { kind: 'tenants', name: 'of acme', event: 'fetched', age: null, reason: null },
  ])
  assert.ok(messages.every(Object.isFrozen), 'each message is frozen')
})
