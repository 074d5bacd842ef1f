import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { inspect } from 'node:util'
import {
  commandSender,
  redisFailure,
  streamOf,
} from '../../../../lib/entrypoints/revocation/redis/clients.ts'
import { Unusable } from '../../../../lib/platform/http/failure.ts'
import { clock } from '../../../../lib/platform/runtime/clock.ts'
import { errorCode } from '../../../../lib/platform/runtime/error.ts'
import { ignoreRejection } from '../../../../lib/platform/runtime/maybe-promise.ts'

/** As those of the package redis, it has the name of its base. */
class SocketTimeoutError extends Error {}

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
  [
    new SocketTimeoutError('Socket timeout timeout. Expecting data, but got hunter2'),
    'SocketTimeoutError',
  ],
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
  const offline = "Stream isn't writeable and enableOfflineQueue options is false"
  assert.equal(redisFailure(new Error(offline)).message, offline)
  assert.equal(redisFailure(new Error('Connection of bob')).message, 'the client failed')
})

test('an answer that cannot be read stays what it is', () => {
  const unusable = new Unusable('no id of a stream')
  assert.equal(redisFailure(unusable), unusable)
})

const SECOND = 1000

/** A sender of three commands at once, with the clock in the hands of the test. */
function start(t: TestContext) {
  let now = 0
  t.mock.method(clock, 'now', () => now)
  const send = commandSender(3)
  const busy = () =>
    assert.rejects(
      send(async () => 'ok'),
      { message: 'too many at once' },
    )
  const lose = () => ignoreRejection(send(() => new Promise(() => {})))
  const pass = (seconds: number) => {
    now += seconds * SECOND
  }
  return { send, busy, lose, pass }
}

test('answers that a client has lost for good hold their places for ten seconds', async (t) => {
  const { send, busy, lose, pass } = start(t)
  for (let i = 0; i < 3; i++) lose()
  pass(9)
  await busy()
  pass(1)
  assert.equal(await send(async () => 'ok'), 'ok')
  for (let i = 0; i < 3; i++) lose()
  await busy()
})

test('a client that is offline gets one command in ten seconds', async (t) => {
  const { busy, lose, pass } = start(t)
  for (let i = 0; i < 3; i++) lose()
  for (let turn = 0; turn < 3; turn++) {
    pass(10)
    lose()
    await busy()
    pass(9)
    await busy()
    pass(-9)
  }
})

test('an answer says nothing of commands that were sent after it, or at its time', async (t) => {
  const { send, busy, lose, pass } = start(t)
  lose()
  pass(1)
  let answer = (_: string): void => {}
  const slow = send(() => new Promise<string>((resolve) => (answer = resolve)))
  lose()
  pass(30)
  answer('ok')
  assert.equal(await slow, 'ok')
  lose()
  lose()
  await busy()
})

test('lost answers are bounded, as one node of a cluster may go on alone, and forgotten in an hour', async (t) => {
  const { send, lose, pass } = start(t)
  let lost = 0
  for (let turn = 0; turn < 300; turn++) {
    for (let i = 0; i < 2; i++) {
      lose()
      lost += 1
    }
    pass(10)
    const answer = await send(async () => 'ok').catch(() => 'refused')
    if (answer === 'refused') break
  }
  assert.deepEqual([lost >= 430, lost <= 434], [true, true], `${lost}`)
  pass(3600)
  assert.equal(await send(async () => 'ok'), 'ok')
})

test('a lost answer that comes late is none any more', async (t) => {
  const { send, pass } = start(t)
  for (let turn = 0; turn < 100; turn++) {
    let answer = (_: string): void => {}
    const late = send(() => new Promise<string>((resolve) => (answer = resolve)))
    pass(10)
    assert.equal(await send(async () => 'ok'), 'ok')
    answer('late')
    assert.equal(await late, 'late')
  }
})

/** A client of each kind, which gives one answer to all, and what they were asked. */
function answering(answer: unknown) {
  const asked: unknown[][] = []
  const command =
    (name: string) =>
    async (...args: unknown[]) => {
      asked.push([name, ...args])
      return answer
    }
  const [xadd, xdel, xrange] = ['xadd', 'xdel', 'xrange'].map(command)
  const [xAdd, xDel, xRange] = ['xAdd', 'xDel', 'xRange'].map(command)
  assert.ok(xadd && xdel && xrange && xAdd && xDel && xRange, 'there are six')
  const commands = { xAdd, xDel, xRange }
  const ofIoredis = streamOf({ xadd, xdel, xrange }, 'k')
  const ofRedis = streamOf({ ...commands, withTypeMapping: () => commands }, 'k')
  return { asked, ofIoredis, ofRedis }
}

test('each client is asked in its own way', async () => {
  const { asked, ofIoredis, ofRedis } = answering('1-12')
  for (const stream of [ofIoredis, ofRedis]) {
    assert.equal(await stream.add('{}'), '1-12')
    await stream.delete(['1-1', '1-2'])
    await assert.rejects(stream.range('1-0', 7), Unusable)
  }
  assert.deepEqual(asked, [
    ['xadd', 'k', '*', 'entry', '{}'],
    ['xdel', 'k', '1-1', '1-2'],
    ['xrange', 'k', '1-0', '+', 'COUNT', 7],
    ['xAdd', 'k', '*', { entry: '{}' }],
    ['xDel', 'k', ['1-1', '1-2']],
    ['xRange', 'k', '1-0', '+', { COUNT: 7 }],
  ])
})

/** An item as each client gives it, and its text; undefined: it is refused. */
const ITEMS: [id: unknown, field: string, value: unknown, text: string | null | undefined][] = [
  ['1-1', 'entry', '{}', '{}'],
  [`${'1'.repeat(20)}-${'2'.repeat(20)}`, 'entry', '{}', '{}'],
  ['1-1', 'other', '{}', null],
  ['1-1', 'entry', Buffer.from('{}'), null],
  ['x1-1', 'entry', '{}', undefined],
  ['1-1x', 'entry', '{}', undefined],
  [Buffer.from('1-1'), 'entry', '{}', undefined],
]

for (const [id, field, value, text] of ITEMS) {
  test(`an item ${inspect([id, field, value])} is ${text === undefined ? 'refused' : `read as ${text}`}`, async () => {
    for (const stream of [
      answering([[id, [field, value]]]).ofIoredis,
      answering([{ id, message: { [field]: value } }]).ofRedis,
    ]) {
      const read = stream.range('0-0', 7)
      if (text === undefined) await assert.rejects(read, Unusable)
      else assert.deepEqual(await read, [{ id, text }])
    }
  })
}

test('what is no item of ioredis is refused, and not read as one without a text', async () => {
  for (const item of [null, '1-1', ['1-1', 'OK']]) {
    await assert.rejects(answering([item]).ofIoredis.range('0-0', 7), Unusable)
  }
})
