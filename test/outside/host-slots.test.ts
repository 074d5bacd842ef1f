import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { HostSlots } from '../../lib/outside/host-slots.ts'
import { Slots } from '../../lib/outside/slots.ts'

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
