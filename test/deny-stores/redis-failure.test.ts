import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RedisFailure, redisFailure } from '../../lib/deny-stores/redis-failure.ts'

/** What is no refusal of a server, and stays as it is. */
const OTHERS = [
  new Error('Connection is closed.'),
  new Error('HUNTER2 is the password'),
  new Error(''),
  'NOAUTH',
  undefined,
]

test('a refusal of a server becomes its code, without its words', () => {
  const failure = redisFailure(new Error('NOPERM User hunter2 has no permissions'))
  assert.ok(failure instanceof RedisFailure, `${failure}`)
  assert.equal(failure.code, 'NOPERM')
  assert.doesNotMatch(failure.message, /hunter2/)
})

for (const other of OTHERS) {
  test(`no refusal of a server: ${other}`, () => {
    assert.equal(redisFailure(other), other)
  })
}
