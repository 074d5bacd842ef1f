import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Unusable } from '../../../lib/platform/http/failure.ts'
import { FetchPlaces, type FetchRank } from '../../../lib/platform/http/fetch-places.ts'
import { TimeLimit } from '../../../lib/platform/runtime/timer.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { usedHeap } from '../../helpers/processes/used-heap.ts'

const NO_PLACE = new Unusable('too many other fetches were under way')

/** Fetches that begin by turns, and end by hand, on a clock that the test moves. */
function begin(t: TestContext) {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: 0 })
  const places = new FetchPlaces()
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  /** @param name the host before the first slash, and what distinguishes it there */
  const run = async (name: string, rank: FetchRank = 'new') => {
    const limit = new TimeLimit({ work: 5000, wait: 20_000 })
    const work = () => {
      begun.push(name)
      return new Promise<void>((resolve, reject) => {
        ends.set(name, resolve)
        limit.signal.addEventListener('abort', () => reject(new Unusable('no answer in time')))
      })
    }
    const fetch = { url: `https://${name}`, rank, limit }
    const running = places.run(work, fetch).finally(() => limit.end())
    running.catch(() => {})
    await setImmediate()
    return { running, limit }
  }
  const many = async (count: number, host: (i: number) => string, rank: FetchRank = 'new') => {
    for (let i = 0; i < count; i++) await run(`${host(i)}/${rank}${i}`, rank)
    return begun.splice(0).length
  }
  const end = async (name: string) => {
    ends.get(name)?.()
    await setImmediate()
    await setImmediate()
  }
  const pass = async (seconds: number) => {
    t.mock.timers.tick(seconds * 1000)
    await setImmediate()
    await setImmediate()
  }
  return { places, begun, run, many, end, pass }
}

const RANKS: readonly (readonly [rank: FetchRank, hosts: number, most: number])[] = [
  ['new', 1, 16],
  ['new', 2, 20],
  ['new', 40, 24],
  ['proved', 1, 16],
  ['proved', 2, 24],
  ['proved', 40, 28],
  ['own', 1, 16],
  ['own', 2, 32],
  ['own', 40, 32],
]

for (const [rank, hosts, most] of RANKS) {
  test(`${rank} documents of ${hosts} hosts take ${most} places`, async (t) => {
    const { many } = begin(t)
    assert.equal(await many(60, (i) => `${i % hosts}.test`, rank), most)
  })
}

test('each port of a host has places of its own', async (t) => {
  const { many } = begin(t)
  assert.equal(await many(60, (i) => `a.test:${8000 + (i % 2)}`, 'own'), 32)
})

test('a free place is for the best rank, the host with fewest, and who came first', async (t) => {
  const { begun, run, many, end } = begin(t)
  await many(32, (i) => `${i % 2}.test`, 'own')
  const waiting = ['a.test/new', 'b.test/new', 'a.test/proved', 'a.test/own'] as const
  for (const name of waiting) {
    const rank = name.endsWith('own') ? 'own' : name.endsWith('proved') ? 'proved' : 'new'
    await run(name, rank)
  }
  assert.deepEqual(begun, [])
  for (let i = 0; i < 16; i++) await end(`${i % 2}.test/own${i}`)
  assert.deepEqual(begun, ['a.test/own', 'a.test/proved', 'b.test/new', 'a.test/new'])
})

test('hosts that have as many get a free place in turn, and each in its own order', async (t) => {
  const { begun, run, many, end } = begin(t)
  await many(24, (i) => `${i}.test`)
  for (const name of ['a.test/1', 'a.test/2', 'a.test/3', 'b.test/1', 'b.test/2']) await run(name)
  await end('0.test/new0')
  for (const name of ['a.test/1', 'b.test/1', 'a.test/2', 'b.test/2']) await end(name)
  assert.deepEqual(begun, ['a.test/1', 'b.test/1', 'a.test/2', 'b.test/2', 'a.test/3'])
})

test('a thousand documents that nobody knows wait at most, and any number of others', async (t) => {
  const { begun, run, many, end } = begin(t)
  const outcome = async (name: string, rank?: FetchRank) => {
    const { running, limit } = await run(name, rank)
    const refused = running.catch((error: unknown) => error)
    return { limit, is: await Promise.race([refused, setImmediate('it waits')]) }
  }
  await many(1015, () => 'a.test')
  const last = await outcome('a.test/last')
  assert.equal(last.is, 'it waits')
  const refused = await outcome('a.test/more')
  assert.deepEqual(refused.is, NO_PLACE)
  assert.deepEqual(getEventListeners(refused.limit.signal, 'abort'), [])
  await run('b.test/new')
  assert.deepEqual(begun.splice(0), ['b.test/new'], 'who finds a place does not wait')
  last.limit.abort()
  assert.equal((await outcome('a.test/after one gave up')).is, 'it waits')
  await end('a.test/new0')
  assert.equal((await outcome('a.test/after one began')).is, 'it waits')
  assert.deepEqual((await outcome('a.test/more')).is, NO_PLACE)
  for (const rank of ['own', 'proved'] as const) {
    await many(1001, () => 'a.test', rank)
    assert.equal((await outcome(`a.test/${rank}`, rank)).is, 'it waits')
  }
})

test('ten thousand that wait at one host cost each the same', async () => {
  const places = new FetchPlaces()
  const fetchAll = async (count: number) => {
    const before = process.cpuUsage()
    const all = Array.from({ length: count }, async () => {
      const limit = new TimeLimit({ work: 60_000, wait: 60_000 })
      const fetch = {
        url: 'https://a.test',
        rank: 'proved',
        limit,
      } as const
      await places.run(() => setImmediate(), fetch)
      limit.end()
    })
    await Promise.all(all)
    return process.cpuUsage(before).user / count
  }
  await fetchAll(1000)
  const [few, many] = [await fetchAll(1000), await fetchAll(10_000)]
  assert.ok(many < 4 * few, `${many} µs each, and ${few} µs of a thousand`)
})

test('in a full line, a host that nobody knows gives way to one with fewer', async (t) => {
  const { many, run, end, begun } = begin(t)
  await many(1024, (i) => `${i % 24}.test`)
  await run('honest.test/1')
  for (let i = 0; i < 25; i++) await end(`${i % 24}.test/new${i}`)
  assert.ok(begun.includes('honest.test/1'), begun.join())
})

test('a place is free again after work that failed, at once or later', async (t) => {
  const { places, begun, run, many } = begin(t)
  await many(15, () => 'a.test')
  const limit = new TimeLimit({ work: 5000, wait: 5000 })
  const failed = new Error('of its own')
  const throwing = () => {
    throw failed
  }
  const fetch = { url: 'https://a.test', rank: 'new', limit } as const
  await assert.rejects(places.run(throwing, fetch), failed)
  await run('a.test/next')
  assert.deepEqual(begun, ['a.test/next'])
})

test('who waits too long gives up, never begins, and leaves nothing behind', async (t) => {
  const { begun, run, many, end, pass } = begin(t)
  await many(16, () => 'a.test', 'own')
  const late = await run('a.test/late', 'own')
  const refused = assert.rejects(late.running, NO_PLACE)
  late.limit.abort()
  await refused
  await run('a.test/next', 'own')
  await end('a.test/own0')
  assert.deepEqual(begun, ['a.test/next'])
  assert.deepEqual(getEventListeners(late.limit.signal, 'abort'), [])
  await pass(5)
})

test('what is aborted before its turn, or in the moment of it, never begins', async (t) => {
  const { places, begun, many, end, run } = begin(t)
  const limit = new TimeLimit({ work: 5000, wait: 5000 })
  limit.abort()
  const fetch = { url: 'https://b.test', rank: 'new', limit } as const
  const never = () => assert.fail('it began')
  await assert.rejects(places.run(never, fetch), NO_PLACE)
  await many(16, () => 'a.test')
  await assert.rejects(places.run(never, { ...fetch, url: 'https://a.test' }), NO_PLACE)
  await end('a.test/new0')
  await run('a.test/next')
  assert.deepEqual(begun, ['a.test/next'])
})

test('a hang that came after the time was spent elsewhere is not that of the host', async (t) => {
  const { places, begun, many, pass } = begin(t)
  const limit = new TimeLimit({ work: 5000, wait: 5000 })
  await pass(4)
  const fetch = { url: 'https://a.test', rank: 'new', limit } as const
  const work = () =>
    new Promise<void>((_, reject) => limit.signal.addEventListener('abort', () => reject(NO_PLACE)))
  const ended = assert.rejects(places.run(work, fetch), NO_PLACE)
  await pass(1)
  await ended
  assert.equal(await many(16, () => 'a.test'), 16)
  assert.deepEqual(begun, [])
})

test('hosts that are not asked any more keep next to nothing alive', async (t) => {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: 0 })
  const places = new FetchPlaces()
  const run = async (host: number) => {
    const limit = new TimeLimit({ work: 0, wait: 0 })
    t.mock.timers.tick(1)
    const fetch = { url: `https://h${host}.test/`, rank: 'new', limit } as const
    await places.run(async () => {}, fetch).catch(() => {})
  }
  await run(0)
  const before = usedHeap()
  for (let host = 0; host < 20_000; host++) await run(host)
  const grown = usedHeap() - before
  assert.ok(grown < 4_000_000, `grown by ${grown} bytes`)
})
