import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Exchanges } from '../../../lib/entrypoints/introspection/exchanges.ts'
import { TimeLimit } from '../../../lib/platform/runtime/timer.ts'
import { until } from '../../helpers/processes/until.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'

const GET = { method: 'GET', headers: { 'x-more': 'yes' } } as const
const NO_ANSWER = { code: 'ERR_INTROSPECTION_NO_ANSWER' }

test('status, headers and body are as the server sends them', async () => {
  const server = await askedServer((request, response) => {
    response.writeHead(418, { authorization: 'Bearer x' }).end(request.headers['x-more'])
  })
  const response = await new Exchanges().fetch(server.url, GET)
  assert.equal(response.status, 418)
  assert.equal(response.headers.get('authorization'), 'Bearer x')
  assert.equal(await response.text(), 'yes')
})

test('a body of the most bytes is read, one of a byte more is no answer', async () => {
  let size = 512 * 1024
  const server = await askedServer((_, response) => response.end('x'.repeat(size)))
  const { fetch } = new Exchanges()
  assert.equal((await (await fetch(server.url, GET)).text()).length, size)
  size += 1
  const message = 'the server gave no whole answer: the answer is too large'
  await assert.rejects(fetch(server.url, GET), { ...NO_ANSWER, message })
})

test('the reason for no answer is in words of ours', async () => {
  const server = await askedServer((request) => request.socket.destroy())
  const message = 'the server gave no whole answer: no answer (UND_ERR_SOCKET)'
  await assert.rejects(new Exchanges().fetch(server.url, GET), { ...NO_ANSWER, message })
})

test('no redirect is followed, and no connection is kept', async () => {
  const open = new Set<unknown>()
  const server = await askedServer((request, response) => {
    assert.equal(request.headers.connection, 'close')
    open.add(request.socket)
    request.socket.once('close', () => open.delete(request.socket))
    response.writeHead(307, { location: '/elsewhere' }).end()
  })
  assert.equal((await new Exchanges().fetch(server.url, GET)).status, 307)
  assert.equal(server.count, 1)
  await until(() => open.size === 0)
})

/** Servers that do not come to an end. */
const HANGING: readonly [what: string, begin: string | null][] = [
  ['no answer', null],
  ['a body that stops', 'x'],
]

for (const [what, begin] of HANGING) {
  test(`${what} ends when the service ends`, async () => {
    const server = await askedServer((_, response) => {
      if (begin !== null) response.write(begin)
    })
    const exchanges = new Exchanges()
    const ended = assert.rejects(exchanges.fetch(server.url, GET), NO_ANSWER)
    await until(() => server.count === 1)
    exchanges.end()
    await ended
  })
}

test('an exchange that is over is not kept, and its time ends with it', async (t) => {
  const [end, abort] = [
    t.mock.method(TimeLimit.prototype, 'end'),
    t.mock.method(TimeLimit.prototype, 'abort'),
  ]
  const server = await askedServer((_, response) => response.end('x'))
  const exchanges = new Exchanges()
  await exchanges.fetch(server.url, GET)
  exchanges.end()
  assert.deepEqual([end.mock.callCount(), abort.mock.callCount()], [1, 0])
})

test('exchanges that begin after the end are as before', async () => {
  const server = await askedServer((_, response) => response.end('x'))
  const exchanges = new Exchanges()
  exchanges.end()
  assert.equal((await exchanges.fetch(server.url, GET)).status, 200)
})

test('what has not ended after 5 seconds is given up', async (t) => {
  const server = await askedServer((_, response) => void response.write('x'))
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const late = assert.rejects(new Exchanges().fetch(server.url, GET), NO_ANSWER)
  // Without a timer, since the test has them in its hand.
  for (let look = 0; server.count === 0; look++) {
    assert.ok(look < 1_000_000, 'the request has arrived')
    await new Promise(setImmediate)
  }
  t.mock.timers.tick(5000)
  await late
})
