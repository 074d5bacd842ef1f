import assert from 'node:assert/strict'
import { test } from 'node:test'
import { doubtful, fine, wrong } from '../../lib/doctor/finding.ts'

test('a finding is fit for a terminal: what moves its cursor is shown by numbers', () => {
  const odd = 'a\u001b[2J\u009b\u202e\nb'
  const plain = 'a\\u001b[2J\\u009b\\u202e\\u000ab'
  assert.deepEqual(fine(odd), { level: 'ok', what: plain })
  assert.deepEqual(doubtful(odd, odd), { level: 'warning', what: plain, cure: plain })
  assert.deepEqual(wrong(odd, odd), { level: 'wrong', what: plain, cure: plain })
})
