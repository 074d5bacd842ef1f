import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'

test('a refusal tells its reason, what was found where that was looked at, and no stack', () => {
  const mismatch = () => ({ of: 'iss', expected: '"a"', unverified: '"b"' }) as const
  assert.deepEqual({ ...new TokenRefused('expired') }, { reason: 'expired', mismatch: undefined })
  assert.equal(new TokenRefused('the issuer is not accepted', mismatch).mismatch, mismatch)
})
