import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Redis } from 'ioredis'
import { redisProofs } from '../../../../lib/entrypoints/revocation/index.ts'
import { Unusable } from '../../../../lib/platform/http/failure.ts'
import { configError } from '../../../helpers/app/config-error.ts'
import { settled } from '../../../helpers/tokens/denied.ts'

const MINUTE = 60_000
const END = new Date(Date.now() + 5 * MINUTE)

/** A client of ioredis, as far as it is needed, that gives one answer. */
function answering(answer: () => unknown) {
  const asked: unknown[][] = []
  const client = {
    set: async (...args: unknown[]) => {
      asked.push(args)
      return answer()
    },
  }
  return { asked, isFirst: redisProofs({ client }) }
}

it('OK means the first time, and null that it was seen', async () => {
  assert.equal(await answering(() => 'OK').isFirst('k', END), true)
  assert.equal(await answering(() => null).isFirst('k', END), false)
})

for (const odd of [
  undefined,
  '',
  'ok',
  'QUEUED',
  true,
  false,
  0,
  1,
  {},
  ['OK'],
  Buffer.from('OK'),
]) {
  it(`another answer is none (${JSON.stringify(odd)})`, async () => {
    await assert.rejects(answering(() => odd).isFirst('k', END), Unusable)
  })
}

it('a key is held for a minute beyond its end, since clocks differ', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  const { asked, isFirst } = answering(() => 'OK')
  for (const left of [5 * MINUTE, 1, 0, -1, -MINUTE])
    await isFirst('k', new Date(Date.now() + left))
  const lives = [6 * MINUTE, MINUTE + 1, MINUTE, MINUTE, MINUTE]
  const shown = asked
  assert.deepEqual(
    shown,
    lives.map((life) => ['tenant-auth:proofs:k', '1', 'PX', life, 'NX']),
  )
})

it('a client of redis is asked in its own way, for texts', async () => {
  const asked: unknown[][] = []
  const client = {
    set: () => assert.fail('it may give Buffers'),
    pSetEx: () => assert.fail('it sets a key that is there'),
    withTypeMapping: (mapping: object) => ({
      set: async (...args: unknown[]) => {
        asked.push([mapping, ...args])
        return 'OK'
      },
    }),
  }
  const isFirst = redisProofs({ client, key: 'app' })
  assert.equal(await isFirst('k', new Date(0)), true)
  const options = { expiration: { type: 'PX', value: MINUTE }, condition: 'NX' }
  assert.deepEqual(asked, [[{}, 'app:k', '1', options]])
})

it('a refusal of the server is a rejection that repeats none of its words', async () => {
  const refusing = answering(() => {
    throw new Error('NOPERM No permissions to access key k')
  })
  await assert.rejects(refusing.isFirst('k', END), (error) => {
    assert.ok(error instanceof Error && 'code' in error, 'it is an error with a code')
    assert.deepEqual([error.code, error.message], ['NOPERM', 'the server refused a command'])
    return true
  })
})

it('a client that throws at once is a rejection, too', async () => {
  const client = {
    set: (): Promise<unknown> => {
      throw new TypeError('closed')
    },
  }
  await assert.rejects(redisProofs({ client })('k', END), {
    name: 'TypeError',
    message: 'the client failed',
  })
})

it('a client that is offline queues 10 000 commands at most', async () => {
  const waiting: (() => void)[] = []
  const set = () => new Promise<unknown>((resolve) => waiting.push(() => resolve('OK')))
  const isFirst = redisProofs({ client: { set } })
  const asked = Array.from({ length: 10_000 }, (_, i) => isFirst(`${i}`, END))
  await assert.rejects(isFirst('one more', END), { message: 'too many at once' })
  assert.equal(waiting.length, 10_000)
  for (const answer of waiting.splice(0)) answer()
  assert.deepEqual(new Set(await Promise.all(asked)), new Set([true]))
  const next = isFirst('one more', END)
  await settled()
  for (const answer of waiting) answer()
  assert.equal(await next, true)
})

it('what is no text, or no time, is refused', async () => {
  const { asked, isFirst } = answering(() => 'OK')
  const ask = (...args: unknown[]): Promise<unknown> => Reflect.apply(isFirst, undefined, args)
  for (const key of [undefined, null, 7, {}]) await assert.rejects(ask(key, END), TypeError)
  for (const end of [undefined, null, 7, 'x', {}, new Date(Number.NaN)]) {
    await assert.rejects(ask('k', end), TypeError)
  }
  assert.deepEqual(asked, [])
})

const client = new Redis({ lazyConnect: true })
/** It has no `withTypeMapping`, and would read our words as no options: SET without NX. */
const redis4 = { set: async () => 'OK', pSetEx: async () => 'OK' }
/** Valkey GLIDE has an object of options, too. */
const glide = { set: async () => 'OK', customCommand: async () => 'OK' }

const BAD: [what: string, options: unknown, message: RegExp][] = [
  ['nothing', undefined, /^options: expected an object, found undefined/],
  ['no client', {}, /^client: expected a client of ioredis, iovalkey or redis, found none/],
  ['null', { client: null }, /^client: expected a client/],
  ['a client that is none', { client: { get: () => {} } }, /^client: expected a client/],
  ['a client of redis 4', { client: redis4 }, /^client: expected a client/],
  ['a client of Valkey GLIDE', { client: glide }, /^client: expected a client/],
  ['an address', { client: 'redis://localhost' }, /^client: expected a client/],
  ['an empty key', { client, key: '' }, /^key: expected a text of 1 to 512 characters/],
  ['a long key', { client, key: 'a'.repeat(513) }, /^key: expected/],
  ['another name', { client, prefix: 'a' }, /^prefix: expected one of client, key/],
]

for (const [what, options, message] of BAD) {
  it(`redisProofs refuses ${what}`, () => {
    const shown = () => Reflect.apply(redisProofs, undefined, [options])
    assert.throws(shown, configError(message, '(redisProofs())'))
  })
}
