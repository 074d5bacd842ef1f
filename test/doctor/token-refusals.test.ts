import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orRefusal } from '../../lib/doctor/examine-token.ts'
import { TokenRefused } from '../../lib/tokens/token-refused.ts'

test('a refusal is given, and a defect is thrown', () => {
  const refusal = new TokenRefused('expired')
  assert.equal(
    orRefusal(() => 1),
    1,
  )
  assert.equal(
    orRefusal(() => {
      throw refusal
    }),
    refusal,
  )
  const defect = () =>
    orRefusal(() => {
      throw new TypeError('a defect')
    })
  assert.throws(defect, { message: 'a defect' })
})
