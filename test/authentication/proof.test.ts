import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EndingProof } from '../../lib/authentication/proof.ts'

test('a proof holds as long as it is so, and never again when it has ended', () => {
  let isSo = true
  const proof = new EndingProof(() => isSo)
  assert.equal(proof.holds, true)
  isSo = false
  assert.equal(proof.holds, false)
  isSo = true
  assert.equal(proof.holds, true)
  proof.end()
  assert.equal(proof.holds, false)
})
