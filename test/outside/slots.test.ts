import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Slots } from '../../lib/outside/slots.ts'
import { Unusable } from '../../lib/outside/unusable.ts'

const NO_PLACE = new Unusable('too many other fetches were under way')

/** Work that begins by turns and ends by hand. */
function workshop() {
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>((resolve, reject) => {
      ends.set(name, (error) => (error ? reject(error) : resolve(name)))
    })
  }
  const end = async (name: string, error?: Error): Promise<void> => {
    await setImmediate()
    ends.get(name)?.(error)
    await setImmediate()
  }
  const run = (slots: Slots, name: string, limit = new AbortController()) =>
    slots.run(work(name), limit.signal)
  return { begun, run, end }
}

test('so many run at once, and the others follow in their order', async () => {
  const { begun, run, end } = workshop()
  const slots = new Slots(2)
  const all = Promise.all(['a', 'b', 'c', 'd'].map((name) => run(slots, name)))
  await setImmediate()
  assert.deepEqual(begun, ['a', 'b'])
  await end('b')
  assert.deepEqual(begun, ['a', 'b', 'c'])
  await end('a')
  assert.deepEqual(begun, ['a', 'b', 'c', 'd'])
  await end('d')
  await end('c')
  assert.deepEqual(await all, ['a', 'b', 'c', 'd'])
})

test('a place is free again after work that failed, at once or later', async () => {
  const { begun, run, end } = workshop()
  const slots = new Slots(1)
  const { signal } = new AbortController()
  const failed = new Error('of its own')
  const throwing = () => {
    throw failed
  }
  await assert.rejects(slots.run(throwing, signal), failed)
  const first = run(slots, 'a')
  const refused = assert.rejects(first, failed)
  const second = run(slots, 'b')
  await end('a', failed)
  await refused
  assert.deepEqual(begun, ['a', 'b'])
  await end('b')
  assert.equal(await second, 'b')
})

test('who waits too long gives up, never begins, and leaves the order as it is', async () => {
  const { begun, run, end } = workshop()
  const slots = new Slots(1)
  const limit = new AbortController()
  const all = [run(slots, 'a'), run(slots, 'b', limit), run(slots, 'c')]
  const refused = assert.rejects(Promise.resolve(all[1]), NO_PLACE)
  limit.abort()
  await refused
  await end('a')
  assert.deepEqual(begun, ['a', 'c'])
  await end('c')
  void run(slots, 'd')
  await setImmediate()
  assert.deepEqual(begun, ['a', 'c', 'd'])
})

for (const [when, count] of [
  ['where a place is free', 1],
  ['where none is', 0],
] as const) {
  test(`what is aborted already never begins ${when}`, async () => {
    const { begun, run } = workshop()
    const limit = new AbortController()
    limit.abort()
    await assert.rejects(run(new Slots(count), 'a', limit), NO_PLACE)
    assert.deepEqual(begun, [])
  })
}

test('what is aborted in the moment of its turn never begins, and its place goes on', async () => {
  const { begun, run, end } = workshop()
  const slots = new Slots(1)
  const limit = new AbortController()
  void run(slots, 'a').then(() => limit.abort())
  // Its turn comes with the end of `a`, and its limit in the same moment.
  const late = run(slots, 'b', limit)
  const refused = assert.rejects(late, NO_PLACE)
  const next = run(slots, 'c')
  await end('a')
  assert.deepEqual(begun, ['a', 'c'])
  await end('c')
  assert.equal(await next, 'c')
  await refused
})

test('nothing listens to the signal once the wait is over', async () => {
  const { run, end } = workshop()
  const slots = new Slots(1)
  const limit = new AbortController()
  const all = Promise.all([run(slots, 'a'), run(slots, 'b', limit)])
  await end('a')
  assert.deepEqual(getEventListeners(limit.signal, 'abort'), [])
  await end('b')
  assert.deepEqual(await all, ['a', 'b'])
})

test('a part of the places is never more than itself, and leaves the rest to the others', async () => {
  const { begun, run, end } = workshop()
  const all = new Slots(3)
  const part = new Slots(2, all)
  for (const name of ['p1', 'p2', 'p3']) void run(part, name)
  await setImmediate()
  void run(all, 'a1')
  void run(all, 'a2')
  await setImmediate()
  assert.deepEqual(begun, ['p1', 'p2', 'a1'])
  await end('p1')
  assert.deepEqual(begun, ['p1', 'p2', 'a1', 'a2'])
  await end('a1')
  assert.deepEqual(begun, ['p1', 'p2', 'a1', 'a2', 'p3'])
})

test('work in a part waits for the whole, too, and gives both places back when it gives up', async () => {
  const { begun, run, end } = workshop()
  const all = new Slots(1)
  const part = new Slots(1, all)
  void run(all, 'a')
  const limit = new AbortController()
  const late = assert.rejects(run(part, 'p', limit), NO_PLACE)
  await setImmediate()
  limit.abort()
  await late
  await end('a')
  void run(part, 'q')
  await setImmediate()
  assert.deepEqual(begun, ['a', 'q'])
})
