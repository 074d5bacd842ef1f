import assert from 'node:assert/strict'
import dns from 'node:dns'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { lookUp } from '../../lib/outside/judged-request.ts'
import { until } from '../helpers/processes/until.ts'
import { nameServer } from '../helpers/servers/name-server.ts'

const { signal } = new AbortController()

test('the addresses of both families come from the name servers, and no thread is taken', async (t) => {
  const threads = t.mock.method(dns, 'lookup')
  await nameServer(t, () => ['8.8.8.8', '1.1.1.1', '2606:4700::1111'])
  assert.deepEqual(await lookUp('idp.customer.test', signal), [
    { address: '8.8.8.8', family: 4 },
    { address: '1.1.1.1', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ])
  assert.equal(threads.mock.callCount(), 0)
})

for (const [what, address, family] of [
  ['IPv4', '8.8.8.8', 4],
  ['IPv6', '2606:4700::1', 6],
] as const) {
  test(`a name that has ${what} only is found`, async (t) => {
    await nameServer(t, () => [address])
    assert.deepEqual(await lookUp('idp.customer.test', signal), [{ address, family }])
  })
}

test('a silent name server ends with the signal, and never takes a thread', async (t) => {
  const threads = t.mock.method(dns, 'lookup')
  const asked = await nameServer(t, () => undefined)
  const limit = new AbortController()
  const all = Array.from({ length: 8 }, (_, i) => lookUp(`${i}.customer.test`, limit.signal))
  const ended = Promise.allSettled(all)
  await until(() => asked.length >= 8)
  limit.abort()
  for (const one of await ended) assert.equal(one.status, 'rejected')
  assert.equal(threads.mock.callCount(), 0)
})

test('eight silent names leave the look-ups of the process as they were', async (t) => {
  const asked = await nameServer(t, (name) => (name === 'good.test' ? ['8.8.8.8'] : undefined))
  const limit = new AbortController()
  const all = Array.from({ length: 8 }, (_, i) => lookUp(`${i}.customer.test`, limit.signal))
  const ended = Promise.allSettled(all)
  await until(() => asked.length >= 8)
  assert.deepEqual(await lookUp('good.test', signal), [{ address: '8.8.8.8', family: 4 }])
  const local = await dns.promises.lookup('localhost')
  assert.match(local.address, /^(127\.|::1)/)
  limit.abort()
  await ended
})

/** Look-ups of the machine that a test answers by hand. */
function machine(t: { mock: { method: (...args: never[]) => unknown } }) {
  const open: ((error: Error | null, addresses?: object[]) => void)[] = []
  const lookup = (...args: unknown[]) => {
    const done = args.at(-1)
    assert.ok(typeof done === 'function', 'a look-up without a callback')
    open.push((...answer) => done(...answer))
  }
  Reflect.apply(t.mock.method, t.mock, [dns, 'lookup', lookup])
  return open
}

test('a name that the name servers do not have may stand in the hosts file', async (t) => {
  await nameServer(t, () => null)
  const open = machine(t)
  const found = lookUp('only.hosts', signal)
  await until(() => open.length === 1)
  open[0]?.(null, [{ address: '10.0.0.7', family: 4 }])
  assert.deepEqual(await found, [{ address: '10.0.0.7', family: 4 }])
})

test('the machine is asked for one such name at a time, however long it takes', async (t) => {
  const asked = await nameServer(t, () => null)
  const open = machine(t)
  const limit = new AbortController()
  const held = lookUp('held.customer.test', limit.signal)
  await until(() => open.length === 1)
  const waiting = lookUp('late.customer.test', limit.signal)
  const next = lookUp('next.test', signal)
  await until(() => asked.length === 3)
  const late = assert.rejects(waiting, { name: 'AbortError' })
  limit.abort()
  await setImmediate()
  assert.equal(open.length, 1, 'its thread has not come back')
  open[0]?.(Object.assign(new Error('none'), { code: 'ENOTFOUND' }))
  await assert.rejects(held, { code: 'ENOTFOUND' })
  await late
  await until(() => open.length === 2)
  open[1]?.(null, [])
  assert.deepEqual(await next, [])
})

test('localhost is asked of the machine at once, and of no name server', async (t) => {
  const asked = await nameServer(t, () => ['8.8.8.8'])
  const [first] = await lookUp('localhost', signal)
  assert.match(String(first?.address), /^(127\.|::1)/)
  assert.deepEqual(asked, [])
})

test('a signal that is aborted already asks nobody', async (t) => {
  const asked = await nameServer(t, () => null)
  const threads = t.mock.method(dns, 'lookup')
  await assert.rejects(lookUp('idp.customer.test', AbortSignal.abort()), { name: 'AbortError' })
  assert.deepEqual([asked.length, threads.mock.callCount()], [0, 0])
})
