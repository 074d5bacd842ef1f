import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areTestKeys, KeySet } from '../../lib/keys/key-set.ts'
import { createTestAuthority } from '../../lib/testing.ts'

const { publicKeys } = await createTestAuthority()

test('the keys of a test authority are known by their names, after a rotation too', async () => {
  const authority = await createTestAuthority({ algorithm: 'RS256' })
  assert.equal(areTestKeys(new KeySet(authority.publicKeys)), true)
  await authority.rotate()
  assert.equal(areTestKeys(new KeySet(authority.publicKeys)), true)
})

for (const kid of ['test-1', 'x-fastify-tenant-auth-test-1', undefined]) {
  test(`a key named ${kid} is none of theirs`, () => {
    const keys = publicKeys.keys.map((key) => ({ ...key, kid }))
    assert.equal(areTestKeys(new KeySet({ keys })), false)
  })
}

test('one key of theirs among others is enough', () => {
  const others = publicKeys.keys.map((key) => ({ ...key, kid: 'other' }))
  assert.equal(areTestKeys(new KeySet({ keys: [...others, ...publicKeys.keys] })), true)
})
