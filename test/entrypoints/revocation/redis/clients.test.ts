import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redisFailure } from '../../../../lib/entrypoints/revocation/redis/clients.ts'

/** What is no refusal of a server, and stays as it is. */
const OTHERS = [
  new Error('Connection is closed.'),
  new Error('HUNTER2 is the password'),
  new Error(''),
  'NOAUTH',
  undefined,
]

test('a refusal of a server becomes its code, without its words', () => {
  const failure = Object(redisFailure(new Error('NOPERM User hunter2 has no permissions')))
  assert.equal(failure.code, 'NOPERM')
  assert.doesNotMatch(failure.message, /hunter2/)
})

for (const other of OTHERS) {
  test(`no refusal of a server: ${other}`, () => {
    assert.equal(redisFailure(other), other)
  })
}
