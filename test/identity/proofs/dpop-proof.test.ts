import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProofKey } from '../../../lib/entrypoints/testing/proof-key.ts'
import { Confirmation } from '../../../lib/identity/jwt/confirmation.ts'
import { verifyProof } from '../../../lib/identity/proofs/dpop-proof.ts'

const URL = 'https://api.test/orders'

test('the address of a request is computed for a proof of the right key only', async () => {
  const [own, other] = [await createProofKey(), await createProofKey()]
  let asked = 0
  const expected = {
    jkt: own.jkt,
    method: 'GET',
    address: () => {
      asked += 1
      return URL
    },
    token: 'token',
    maxAge: 300,
  }
  const verify = (proof: string) => verifyProof(proof, new Confirmation(own.jkt, null), expected)
  assert.throws(() => verify('a.b.c'), { code: 'ERR_AUTH_TOKEN_INVALID' })
  const foreign = other.headers('token', 'GET', URL).dpop
  assert.throws(() => verify(foreign), { reason: 'the DPoP proof is of another key' })
  assert.throws(() => verify(own.headers('token', 'POST', URL).dpop), /not valid/)
  assert.equal(asked, 0)
  assert.match(verify(own.headers('token', 'GET', URL).dpop).key, new RegExp(`^${own.jkt}\\.`))
  assert.equal(asked, 1)
})

test('the times that count, and that of a proof, are known of one that is refused', async (t) => {
  const key = await createProofKey()
  const expected = { jkt: key.jkt, method: 'GET', address: () => URL, token: 'token', maxAge: 300 }
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  const { dpop } = key.headers('token', 'GET', URL)
  t.mock.timers.setTime(1_800_001_000_000)
  const mismatch = {
    of: 'iat',
    expected: '"1800000700 to 1800001300"',
    unverified: '"1800000000"',
  }
  const verify = () => verifyProof(dpop, new Confirmation(key.jkt, null), expected)
  assert.throws(verify, { reason: 'DPoP proof: of another time', mismatch })
})
