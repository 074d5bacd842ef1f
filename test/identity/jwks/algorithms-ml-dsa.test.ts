import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import {
  algorithmsOf,
  supportedAlgorithms,
  verifySignature,
} from '../../../lib/identity/jwks/algorithms.ts'
import { partsOf } from '../../helpers/tokens/forge.ts'
import { readKey } from '../../helpers/tokens/read-key.ts'

/** RFC 9964: Node has them from 24.7 on, if its OpenSSL does. */
const NAMES = ['ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87']
const available = NAMES.filter((name) => supportedAlgorithms.includes(name))
const skip = available.length === 0 && `this Node (${process.version}) has no ML-DSA`

test('all of them are supported together, or not at all', () => {
  assert.ok(available.length === 0 || available.length === NAMES.length, available.join())
})

test('without support, their keys are not used', () => {
  for (const alg of NAMES) {
    const expected = available.includes(alg) ? [alg] : []
    assert.deepEqual(algorithmsOf({ kty: 'AKP', alg }), expected)
  }
})

for (const name of NAMES) {
  test(`${name} verifies what jose has signed, and no bent signature`, { skip }, async () => {
    const { publicKey, privateKey } = await generateKeyPair(name, { extractable: true })
    const { alg: _, ...nameless } = await exportJWK(publicKey)
    const key = readKey({ ...nameless, alg: name, kid: 'a' })
    assert.ok(typeof key === 'object', `${name} is usable`)
    assert.deepEqual([...key.algorithms], [name])

    const token = await new SignJWT({}).setProtectedHeader({ alg: name }).sign(privateKey)
    const [header, payload, encoded] = partsOf(token)
    const signature = Buffer.from(encoded, 'base64url')
    const input = `${header}.${payload}`
    assert.equal(verifySignature(name, key.key, input, signature), true)
    assert.equal(verifySignature(name, key.key, `${input}A`, signature), false)
    assert.equal(verifySignature(name, key.key, input, signature.subarray(1)), false)
    for (const other of NAMES.filter((alg) => alg !== name)) {
      assert.equal(verifySignature(other, key.key, input, signature), false)
    }
    const bent = Buffer.from(signature)
    bent[7] = (bent[7] ?? 0) ^ 1
    assert.equal(verifySignature(name, key.key, input, bent), false)

    const privateJwk = await exportJWK(privateKey)
    assert.equal(readKey(privateJwk), 'private')
    assert.equal(readKey(nameless), 'for no known algorithm', 'without its algorithm')
  })
}
