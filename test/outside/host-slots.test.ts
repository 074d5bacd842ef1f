import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { HostSlots } from '../../lib/outside/host-slots.ts'
import { Slots } from '../../lib/outside/slots.ts'
import { usedHeap } from '../helpers/processes/used-heap.ts'

test('work that ends leaves the part of its host as it is', async () => {
  const slots = new HostSlots(2, new Slots(10))
  const { signal } = new AbortController()
  const ends: (() => void)[] = []
  const run = () =>
    slots.run('https://one.test/', () => new Promise<void>((end) => ends.push(end)), signal)
  const first = run()
  const others = [run()]
  await setImmediate()
  ends[0]?.()
  await first
  others.push(run(), run())
  await setImmediate()
  assert.equal(ends.length, 3, 'two at once')
  ends[1]?.()
  await setImmediate()
  for (const end of ends) end()
  await setImmediate()
  ends[3]?.()
  await Promise.all(others)
})

test('all hosts together get no more than all places', async () => {
  const slots = new HostSlots(2, new Slots(3))
  const limit = new AbortController()
  let begun = 0
  const work = () => {
    begun += 1
    return new Promise<void>((resolve) => limit.signal.addEventListener('abort', () => resolve()))
  }
  const urls = ['https://one.test/', 'https://other.test/']
  const all = [...urls, ...urls].map((url) => slots.run(url, work, limit.signal).catch(() => {}))
  await setImmediate()
  assert.equal(begun, 3)
  limit.abort()
  await Promise.all(all)
})

test('a host that is not asked any more keeps nothing alive', async () => {
  const slots = new HostSlots(2, new Slots(3))
  const { signal } = new AbortController()
  const run = (host: number) => slots.run(`https://host-${host}.test/`, async () => {}, signal)
  await run(0)
  const before = usedHeap()
  for (let host = 0; host < 20_000; host++) await run(host)
  const grown = usedHeap() - before
  assert.ok(grown < 4_000_000, `grown by ${grown} bytes`)
})

test('a host that hangs leaves places for the others, and gives its own back', async () => {
  const slots = new HostSlots(2, new Slots(3))
  const begun: string[] = []
  const run = (url: string, limit: AbortController) => {
    const work = () => {
      begun.push(url)
      return new Promise<void>((resolve) => limit.signal.addEventListener('abort', () => resolve()))
    }
    return slots.run(url, work, limit.signal).catch(() => {})
  }
  const [hanging, other, again] = [
    new AbortController(),
    new AbortController(),
    new AbortController(),
  ]
  const all = ['a', 'b', 'c'].map((path) => run(`https://hangs.test/${path}`, hanging))
  all.push(run('https://other.test/', other))
  await setImmediate()
  const OTHERS = ['https://hangs.test/a', 'https://hangs.test/b', 'https://other.test/']
  assert.deepEqual(begun.splice(0), OTHERS)
  hanging.abort()
  other.abort()
  await Promise.all(all)
  const last = ['a', 'b', 'c'].map((path) => run(`https://hangs.test/${path}`, again))
  last.push(run('no address', again))
  await setImmediate()
  assert.deepEqual(begun, ['https://hangs.test/a', 'https://hangs.test/b', 'no address'])
  again.abort()
  await Promise.all(last)
})
