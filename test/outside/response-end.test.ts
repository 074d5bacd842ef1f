import assert from 'node:assert/strict'
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { onResponseEnd } from '../../lib/outside/response-end.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'

/** `once` would fail where the connection is reset. */
const closed = (connection: EventEmitter) => new Promise((end) => connection.once('close', end))

/** Requests that come one behind another on one connection, and that the test answers by hand. */
async function pipelined(count: number) {
  const exchanges: { request: IncomingMessage; response: ServerResponse }[] = []
  const { url } = await askedServer((request, response) => {
    exchanges.push({ request, response })
  })
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.resume().write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(count))
  await until(() => exchanges.length === count)
  /** How often the end of each response was told. */
  const told = exchanges.map(() => 0)
  const watch = (index: number) => {
    const exchange = exchanges[index]
    assert.ok(exchange, `there is request ${index}`)
    onResponseEnd(exchange.request, exchange.response, () => {
      told[index] = (told[index] ?? 0) + 1
    })
    return exchange
  }
  return { watch, told, exchanges, socket }
}

test('the end of a response is told once', async (t) => {
  const { watch, told, exchanges, socket } = await pipelined(1)
  t.after(() => socket.destroy())
  const listeners = exchanges[0]?.request.socket.listenerCount('close')
  const { request, response } = watch(0)
  assert.equal(request.socket.listenerCount('close'), listeners, 'none on its connection')
  await new Promise(setImmediate)
  assert.deepEqual(told, [0])
  response.end('x')
  await closed(response)
  assert.deepEqual(told, [1])
  request.socket.destroy()
  await closed(request.socket)
  assert.deepEqual(told, [1])
})

const ENDED: [what: string, end: (of: Awaited<ReturnType<typeof pipelined>>) => unknown][] = [
  ['a response that is destroyed', ({ exchanges: [one] }) => one?.response.destroy()],
  ['a connection that is destroyed', ({ exchanges: [one] }) => one?.request.socket.destroy()],
]

for (const [what, end] of ENDED) {
  test(`the end of ${what} is told at once`, async (t) => {
    const exchange = await pipelined(1)
    t.after(() => exchange.socket.destroy())
    await end(exchange)
    exchange.watch(0)
    assert.deepEqual(exchange.told, [1])
  })
}

test('the end of a response that is finished is told at once', async (t) => {
  const { watch, told, exchanges, socket } = await pipelined(1)
  t.after(() => socket.destroy())
  const { response } = exchanges[0] ?? {}
  assert.ok(response, 'there is a response')
  const toldAtOnce = new Promise((tell) => {
    response.once('finish', () => {
      assert.equal(response.destroyed, false)
      watch(0)
      tell([...told])
    })
  })
  response.end('x')
  assert.deepEqual(await toldAtOnce, [1])
})

test('a response that waits behind others has ended with its connection', async () => {
  const { watch, told, exchanges, socket } = await pipelined(4)
  const connection = exchanges[0]?.request.socket
  assert.ok(connection, 'there is a connection')
  const listeners = connection.listenerCount('close')
  for (const index of [1, 2, 3]) watch(index)
  assert.equal(connection.listenerCount('close'), listeners + 1, 'one listener for all')
  socket.destroy()
  await closed(connection)
  assert.deepEqual(told, [0, 1, 1, 1])
})

test('a response that has waited behind others ends by itself, and is told once', async () => {
  const { watch, told, exchanges, socket } = await pipelined(3)
  const { response } = watch(1)
  watch(2)
  exchanges[0]?.response.end('x')
  response.end('x')
  await closed(response)
  assert.deepEqual(told, [0, 1, 0])
  const connection = exchanges[0]?.request.socket
  assert.ok(connection, 'there is a connection')
  socket.destroy()
  await closed(connection)
  assert.deepEqual(told, [0, 1, 1])
})
