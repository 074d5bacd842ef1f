import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { redisFailure } from '../../../../lib/entrypoints/revocation/redis/clients.ts'
import { Unusable } from '../../../../lib/platform/http/failure.ts'
import { errorCode } from '../../../../lib/platform/runtime/error.ts'

/** What is no refusal of a server that is known, and the code or the name of the failure. */
const OTHERS: readonly [error: unknown, shown: string][] = [
  [new Error('Connection is closed.'), 'Error'],
  [new RangeError('HUNTER2 is the password'), 'RangeError'],
  [new Error(''), 'Error'],
  [Object.assign(new Error('hunter2'), { code: 'hunter2' }), 'Error'],
  [
    Object.assign(new Error('no'), { name: 'ReplyError', command: { args: ['hunter2'] } }),
    'ReplyError',
  ],
  [Object.assign(new Error('down'), { code: 'ECONNRESET', command: ['hunter2'] }), 'ECONNRESET'],
  ['NOAUTH', 'Error'],
  [undefined, 'Error'],
]

test('a refusal of a server becomes its code, without its words', () => {
  const failure = Object(redisFailure(new Error('NOPERM User hunter2 has no permissions')))
  assert.equal(failure.code, 'NOPERM')
  assert.doesNotMatch(failure.message, /hunter2/)
})

for (const [error, shown] of OTHERS) {
  test(`${inspect(error).split('\n', 1)} becomes ${shown}, without words and arguments`, () => {
    const failure = redisFailure(error)
    assert.equal(errorCode(failure), shown)
    assert.doesNotMatch(inspect(failure), /hunter2/i)
  })
}

test('what a client says of a connection that is lost stays what it is', () => {
  assert.equal(redisFailure(new Error('Connection is closed.')).message, 'Connection is closed.')
  assert.equal(redisFailure(new Error('Connection of bob')).message, 'the client failed')
})

test('an answer that cannot be read stays what it is', () => {
  const unusable = new Unusable('no id of a stream')
  assert.equal(redisFailure(unusable), unusable)
})
