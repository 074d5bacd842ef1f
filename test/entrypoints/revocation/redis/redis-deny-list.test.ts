import assert from 'node:assert/strict'
import { it, type TestContext, test } from 'node:test'
import { Cluster, Redis } from 'ioredis'
import { Cluster as ValkeyCluster } from 'iovalkey'
import { createCluster } from 'redis'
import { denyListFunction } from '../../../../lib/entrypoints/revocation/deny-list.ts'
import type { DenyListRules } from '../../../../lib/entrypoints/revocation/deny-list-options.ts'
import { redisDenyList } from '../../../../lib/entrypoints/revocation/index.ts'
import { streamSource } from '../../../../lib/entrypoints/revocation/redis/redis-deny-list.ts'
import { configError } from '../../../helpers/app/config-error.ts'
import { describeStreamsIn } from '../../../helpers/processes/redis-suite.ts'
import { until } from '../../../helpers/processes/until.ts'
import { MemoryStream } from '../../../helpers/servers/memory-stream.ts'
import { CLIENTS, type OpenClient } from '../../../helpers/servers/redis-clients.ts'
import { type Reply, StreamServer } from '../../../helpers/servers/stream-server.ts'
import {
  attend,
  HOUR,
  SECOND,
  START,
  settled,
  stopClocks,
  tokenOf,
  verdictOf,
} from '../../../helpers/tokens/denied.ts'

const END = new Date(Date.now() + HOUR)
const CODES = ['NOAUTH', 'NOPERM', 'READONLY', 'WRONGTYPE', 'OOM', 'MISCONF']

/** Answers that are none of a stream. */
const ODD: [command: string, answer: Reply][] = [
  ['XADD', 'OK'],
  ['XADD', 7],
  ['XRANGE', 'OK'],
  ['XRANGE', [['OK', []]]],
  ['XRANGE', [['1-1', 'OK']]],
  ['XRANGE', ['1-1']],
]

/** A server of streams, and a client that is connected to it. Both end with their test. */
async function connected<Client extends OpenCluster>(
  t: TestContext,
  connect: (url: string) => Client | Promise<Client>,
) {
  const server = await StreamServer.open()
  t.after(() => server.close())
  const { client, close } = await connect(server.url)
  t.after(close)
  return { server, client }
}

// A real server, and all clients: test/e2e/redis.e2e.ts.
describeStreamsIn('a server of streams', () => StreamServer.open(), CLIENTS.slice(0, 1))

for (const [name, connect] of CLIENTS) {
  it(`a command that a server refuses is logged by its code alone (${name})`, async (t) => {
    const { server, client } = await connected(t, connect)
    for (const code of CODES) {
      server.override = (command) =>
        command.startsWith('X') ? new Error(`${code} hunter2`) : undefined
      const list = redisDenyList({ client })
      const { logged } = attend(t, list)
      await assert.rejects(list.ready(), { reason: `changes failed (${code})` })
      assert.deepEqual(logged, [`the deny list cannot be read (${code})`])
      const adding = list.add({ jti: 'token-1', until: END })
      await assert.rejects(adding, { reason: `append failed (${code})` })
      assert.equal(verdictOf(list), true, 'it counts here')
    }
  })

  it(`a list makes no connection, and needs three commands alone (${name})`, async (t) => {
    const { server, client } = await connected(t, connect)
    const list = redisDenyList({ client, interval: 0.1 })
    attend(t, list)
    await list.add({ jti: 'token-1', until: END })
    await until(() => server.asked.length > 5)
    assert.equal(server.connections, 1)
    const commands = server.asked.map(([command]) => command?.toUpperCase())
    assert.deepEqual(new Set(commands), new Set(['XADD', 'XRANGE']))
  })

  for (const [command, odd] of ODD) {
    it(`an odd answer to ${command} is a failure (${name}, ${JSON.stringify(odd)})`, async (t) => {
      const { server, client } = await connected(t, connect)
      server.override = (asked) => (asked === command ? odd : undefined)
      const list = redisDenyList({ client })
      const work = command === 'XADD' ? list.add({ jti: 'token-1', until: END }) : list.ready()
      await assert.rejects(work, { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
    })
  }
}

it('a keyPrefix comes before the key', async (t) => {
  const server = await StreamServer.open()
  t.after(() => server.close())
  const client = new Redis(server.url, { keyPrefix: 'app:' })
  t.after(() => client.disconnect())
  const list = redisDenyList({ client, key: 'revoked' })
  attend(t, list)
  await list.add({ jti: 'token-1', until: END })
  await list.ready()
  const prefixed = server.asked.filter((request) => request.includes('app:revoked'))
  assert.deepEqual(prefixed, server.asked)
})

const CLUSTERS: [name: string, connect: (url: string) => OpenCluster | Promise<OpenCluster>][] = [
  ['ioredis', (url) => clusterOf(new Cluster([url]))],
  ['iovalkey', (url) => clusterOf(new ValkeyCluster([url]))],
  [
    'redis',
    async (url) => {
      const client = createCluster({ rootNodes: [{ url }] })
      await client.connect()
      return { client, close: () => client.destroy() }
    },
  ],
]

type OpenCluster = Omit<OpenClient, 'send'>

const clusterOf = (client: Cluster | ValkeyCluster): OpenCluster => ({
  client,
  close: () => client.disconnect(),
})

for (const [name, connect] of CLUSTERS) {
  it(`a client of a cluster does the same (${name})`, async (t) => {
    const { client } = await connected(t, connect)
    const [mine, other] = [redisDenyList({ client }), redisDenyList({ client })]
    const { logged } = attend(t, other)
    await other.ready()
    await mine.add({ jti: 'token-1', until: END })
    await until(() => verdictOf(other) === true, 5000)
    assert.deepEqual(logged, [])
  })
}

const client = new Redis({ lazyConnect: true })

const BAD: [what: string, options: unknown, message: RegExp][] = [
  ['nothing', undefined, /^options: expected an object, found undefined/],
  ['no client', {}, /^client: expected a client/],
  ['null', { client: null }, /^client: expected a client/],
  ['a client that is none', { client: { xadd: () => {} } }, /^client: expected a client/],
  ['an address', { client: 'redis://localhost' }, /^client: expected a client/],
  ['an empty key', { client, key: '' }, /^key: expected a text of 1 to 512 characters/],
  ['an undefined key', { client, key: undefined }, /^key: expected/],
  ['a long key', { client, key: 'a'.repeat(513) }, /^key: expected/],
  ['a rule of denyList', { client, interval: 0 }, /^interval: expected seconds/],
  ['a pool', { client, pool: {} }, /^pool: expected one of client, key/],
]

for (const [what, options, message] of BAD) {
  it(`redisDenyList refuses ${what}`, () => {
    const shown = () => Reflect.apply(redisDenyList, undefined, [options])
    assert.throws(shown, configError(message, '(redisDenyList())'))
  })
}

const DAY = 24 * HOUR

const RULES: DenyListRules = {
  interval: 1,
  maxStale: 7200,
  whenStale: 'refuse',
  maxLifetime: 86_400,
  maxEntries: 100,
  maxBytes: 1e7,
}

const textOf = (jti: string, end: number) => JSON.stringify({ jti, until: new Date(end) })

type Source = ReturnType<typeof streamSource>
type Read = Awaited<ReturnType<Source['changes']>>

/** A stream, and what reads it, on clocks that the test moves. */
function stopped(t: TestContext) {
  const stream = new MemoryStream()
  return { ...stopClocks(t), stream, source: streamSource(stream) }
}

/** All pages from a cursor on. */
async function allPages(source: Source, from: Read['cursor'] | null) {
  const pages: Read[] = []
  let cursor = from
  for (let hasMore = true; hasMore; ) {
    const page = await source.changes(cursor)
    pages.push({ ...page, entries: [...page.entries] })
    cursor = page.cursor
    hasMore = page.hasMore === true
  }
  const notices = pages.flatMap(({ notice }) => notice ?? [])
  return { pages, notices, cursor }
}

const namesOf = (pages: readonly Read[]): unknown[] =>
  pages.flatMap(({ entries }) => [...entries]).map((entry) => Object(entry).jti)

/** A stream with one entry, which has been read. */
async function readOne() {
  const stream = new MemoryStream()
  const source = streamSource(stream)
  const noticed: (string | undefined)[] = []
  stream.put(10, textOf('a', START + HOUR))
  const { cursor } = await source.changes(null)
  const read = async () => {
    const { pages, notices } = await allPages(source, cursor)
    noticed.push(...notices)
    return namesOf(pages)
  }
  return { stream, source, noticed, cursor, read }
}

const LOST: [what: string, change: (stream: MemoryStream) => void, names: string[]][] = [
  ['is gone', ({ items }) => items.splice(0, 1, item(5, 'b')), ['b']],
  ['has other words', ({ items }) => items.splice(0, 1, item(10, 'b')), ['b']],
  ['is gone with all', ({ items }) => items.splice(0), []],
]

const item = (id: number, jti: string) => ({ id: `${id}-0`, text: textOf(jti, START + HOUR) })

for (const [what, change, names] of LOST) {
  test(`if the item that was read last ${what}, all is read anew, and that is noticed`, async (t) => {
    stopClocks(t)
    const { stream, noticed, read } = await readOne()
    assert.deepEqual(await read(), [])
    change(stream)
    assert.deepEqual(await read(), names)
    assert.deepEqual(noticed, ['the deny list lost entries in its stream'])
  })

  test(`if the item that was read last ${what} after a failure, that is noticed once`, async (t) => {
    stopClocks(t)
    const { stream, source } = await readOne()
    change(stream)
    // What was asked failed, and so all is asked for.
    const { pages, notices } = await allPages(source, null)
    assert.deepEqual(namesOf(pages), names)
    assert.deepEqual(notices, ['the deny list lost entries in its stream'])
    assert.deepEqual((await allPages(source, null)).notices, [])
  })
}

for (const [hours, notices] of [
  [6, ['the deny list lost entries in its stream']],
  [18, []],
] as const) {
  test(`if the item that was read last ended ${hours} hours ago, a loss is ${notices.length === 0 ? 'a sweep' : 'noticed'}`, async (t) => {
    const { pass } = stopClocks(t)
    const { stream, noticed, read } = await readOne()
    await pass(HOUR * (hours + 1))
    stream.items = []
    await read()
    assert.deepEqual(noticed, notices)
  })
}

test('if the item that was read last is there after a failure, all is read anew, and nothing noticed', async (t) => {
  stopClocks(t)
  const { source, stream } = await readOne()
  stream.put(20, textOf('b', START + HOUR))
  const { pages, notices } = await allPages(source, null)
  assert.deepEqual([namesOf(pages), notices], [['a', 'b'], []])
})

test('an item that is gone since it ended a day ago is no loss, and all is read anew', async (t) => {
  const { pass } = stopClocks(t)
  const { stream, noticed, read } = await readOne()
  await pass(25 * HOUR + SECOND, HOUR)
  stream.items = [item(20, 'b')]
  assert.deepEqual(await read(), ['b'])
  assert.deepEqual(noticed, [])
})

test('a long first load comes in pages, which may take as long as all of them do', async (t) => {
  const { pass } = stopClocks(t)
  const stream = new MemoryStream()
  const list = denyListFunction({ ...RULES, maxEntries: 5000 }, streamSource(stream))
  for (let i = 1; i <= 5000; i++) stream.put(START + i, textOf(`${i}`, START + HOUR))
  stream.before = () => pass(6 * SECOND)
  await list.ready()
  assert.deepEqual([list.size(), stream.asked], [5000, 6])
  await list.ready()
  assert.equal(stream.asked, 7, 'after it, what is new is asked for')
})

test('where the stream changes between two pages, it is read anew', async (t) => {
  const { stream, source } = stopped(t)
  for (let i = 1; i <= 1500; i++) stream.put(i, textOf(`${i}`, START + HOUR))
  stream.before = () => {
    if (stream.asked === 2) stream.items = [item(7, 'other'), item(1500, 'history')]
  }
  const { pages } = await allPages(source, null)
  assert.deepEqual(namesOf(pages).slice(-2), ['other', 'history'])
})

test('a client that never answers is asked once, and again when it has', async (t) => {
  const { stream, source } = stopped(t)
  const answers: (() => void)[] = []
  stream.before = () => new Promise((resolve) => answers.push(resolve))
  const first = source.changes(null)
  for (let again = 0; again < 3; again++) await assert.rejects(source.changes(null), /late/)
  await settled()
  assert.equal(stream.asked, 1)
  stream.before = () => {}
  answers[0]?.()
  await first
  assert.deepEqual([...(await source.changes(null)).entries], [])
})

const UNREADABLE = [null, '', '1', 'null', '[]', '{', '"text"']

test('what cannot be read is refused with the other entries', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  for (const [i, text] of UNREADABLE.entries()) stream.put(i + 1, text)
  const source = streamSource(stream)
  const { pages, cursor } = await allPages(source, null)
  assert.equal(namesOf(pages).length, UNREADABLE.length)
  const list = denyListFunction(RULES, streamSource(stream))
  await assert.rejects(list.ready(), { code: 'ERR_AUTH_REVOCATION_UNAVAILABLE' })
  // It has no end, so that its loss is noticed.
  stream.items = []
  assert.equal((await allPages(source, cursor)).notices.length, 1)
})

test('entries that ended a day ago are deleted, by both clocks, and no others', async (t) => {
  const { stream, source } = stopped(t)
  stream.put(1, textOf('years', START + 1000 * DAY))
  stream.put(2, textOf('before', START - DAY - SECOND))
  stream.put(3, textOf('yesterday', START - DAY + SECOND))
  stream.put(4, 'unreadable')
  await source.append({ jti: 'b', until: new Date(START + HOUR) })
  await settled()
  assert.deepEqual(stream.deleted, ['2-0'])
  assert.equal(stream.items.length, 4)
})

const CLOCKS: [what: string, serverTime: number, deleted: string[]][] = [
  ['behind', START - DAY, []],
  ['ahead', START + 1000 * DAY, ['2-0']],
]

for (const [what, serverTime, deleted] of CLOCKS) {
  test(`a server whose clock is ${what} deletes by the earlier clock`, async (t) => {
    const { stream, source } = stopped(t)
    stream.put(2, textOf('before', START - DAY - SECOND))
    stream.put(3, textOf('yesterday', START - DAY + SECOND))
    stream.put(4, textOf('living', START + HOUR))
    stream.add = async () => `${serverTime}-7`
    await source.append({ jti: 'b', until: new Date(START + HOUR) })
    await settled()
    assert.deepEqual(stream.deleted, deleted)
  })
}

test('a sweep is short, comes once a minute, and goes on behind what lasts', async (t) => {
  const { stream, source, pass } = stopped(t)
  for (let i = 1; i <= 1500; i++) stream.put(i, textOf(`${i}`, START + 1000 * DAY))
  stream.put(1501, textOf('before', START - 2 * DAY))
  const append = async () => {
    await source.append({ jti: 'b', until: new Date(START + HOUR) })
    await settled()
  }
  await append()
  await append()
  assert.equal(stream.asked, 1)
  await pass(60 * SECOND)
  await append()
  assert.deepEqual(stream.deleted, ['1501-0'])
  await pass(60 * SECOND)
  stream.items.unshift({ id: '1-0', text: textOf('new', START - 2 * DAY) })
  await append()
  assert.deepEqual(stream.deleted, ['1501-0', '1-0'])
})

test('where all of a page has ended, the next sweep comes in a second', async (t) => {
  const { stream, source, pass } = stopped(t)
  for (let i = 1; i <= 2500; i++) stream.put(i, textOf(`${i}`, START - 2 * DAY))
  const deleted: number[] = []
  for (const _ of [1, 2, 3, 4]) {
    await source.append({ jti: 'b', until: new Date(START + HOUR) })
    await settled()
    deleted.push(stream.deleted.length)
    await pass(SECOND)
  }
  assert.deepEqual(deleted, [1000, 2000, 2500, 2500])
})

test('an entry that the server lost before it was read is noticed, and added once more', async (t) => {
  stopClocks(t)
  const { stream, source, cursor } = await readOne()
  const notices: unknown[] = []
  let at: typeof cursor | null = cursor
  const read = async () => {
    const read = await allPages(source, at)
    at = read.cursor
    notices.push(...read.notices)
    await settled()
    return namesOf(read.pages)
  }
  await source.append({ jti: 'b', until: new Date(START + HOUR) })
  const lost = stream.items.splice(1)
  assert.deepEqual([await read(), notices], [[], []], 'a replica may be behind once')
  assert.deepEqual([await read(), notices], [[], ['the deny list lost entries in its stream']])
  assert.deepEqual(stream.items.at(-1)?.text, lost[0]?.text)
  assert.deepEqual(await read(), ['b'])
  for (const _ of [1, 2, 3]) assert.deepEqual(await read(), [])
  assert.equal(notices.length, 1)
})

test('an entry that was lost is added until a server that has taken over stores it', async (t) => {
  stopClocks(t)
  const { stream, source, cursor } = await readOne()
  await source.append({ jti: 'b', until: new Date(START + HOUR) })
  stream.items.splice(1)
  const add = stream.add.bind(stream)
  let asked = 0
  stream.add = async (text) => {
    asked += 1
    if (asked < 3) throw new Error('NOREPLICAS Not enough good replicas to write.')
    return add(text)
  }
  const notices = await askAgain(source, cursor, 6)
  assert.equal(JSON.parse(stream.items.at(-1)?.text ?? '').jti, 'b')
  assert.deepEqual([asked, notices.length], [3, 1])
})

/** Asks so often for changes. Returns what the operator is told. */
async function askAgain(source: Source, from: Read['cursor'] | null, questions: number) {
  const notices: unknown[] = []
  let at = from
  for (let asked = 0; asked < questions; asked++) {
    const read = await allPages(source, at)
    at = read.cursor
    notices.push(...read.notices)
    await settled()
  }
  return notices
}

/** The names in a stream after so many questions, if it loses all that is added before them. */
async function restored(added: readonly string[], questions: number): Promise<unknown[]> {
  const { stream, source, cursor } = await readOne()
  for (const jti of added) await source.append({ jti, until: new Date(START + HOUR) })
  stream.items.splice(1)
  await askAgain(source, cursor, questions)
  return stream.items.slice(1).map(({ text }) => JSON.parse(text ?? '').jti)
}

test('of many entries that were lost between two questions each is added once more, in pages', async (t) => {
  stopClocks(t)
  const names = Array.from({ length: 3000 }, (_, index) => `b${index}`)
  assert.deepEqual(await restored(names, 2), names.slice(0, 1000))
  assert.deepEqual(await restored(names, 5), names)
})

test('a process that reads nothing notes 4 MiB of its entries at most', async (t) => {
  stopClocks(t)
  const names = Array.from({ length: 300 }, (_, index) => `${index}${'x'.repeat(16_000)}`)
  const kept = await restored(names, 3)
  assert.deepEqual(kept, names.slice(-kept.length))
  assert.equal(kept.length, 261)
})

test('a server that refuses lost entries is asked with one of them until it stores it', async (t) => {
  stopClocks(t)
  const { stream, source, cursor } = await readOne()
  const names = Array.from({ length: 9 }, (_, index) => `b${index}`)
  for (const jti of names) await source.append({ jti, until: new Date(START + HOUR) })
  stream.items.splice(1)
  const add = stream.add.bind(stream)
  let added = 0
  let isRefused = true
  stream.add = async (text) => {
    added += 1
    if (isRefused) throw new Error('NOREPLICAS Not enough good replicas to write.')
    return add(text)
  }
  await askAgain(source, cursor, 4)
  assert.equal(added, 9 + 1 + 1)
  isRefused = false
  await askAgain(source, cursor, 3)
  assert.equal(added, 11 + 1 + 8)
  assert.equal(stream.items.length, 10)
})

test('an entry whose answer was lost, and that is there, is not added again', async (t) => {
  stopClocks(t)
  const { stream, source, cursor } = await readOne()
  await source.append({ jti: 'b', until: new Date(START + HOUR) })
  stream.items.splice(1)
  const add = stream.add.bind(stream)
  stream.add = async (text) => {
    await add(text)
    throw new Error('Command timed out')
  }
  await askAgain(source, cursor, 9)
  assert.equal(stream.items.length, 2)
})

test('an entry that has ended is not added again', async (t) => {
  const { pass } = stopClocks(t)
  const { stream, source, cursor } = await readOne()
  await source.append({ jti: 'b', until: new Date(Date.now() + 2 * SECOND) })
  stream.items.splice(1)
  await pass(3 * SECOND)
  await askAgain(source, cursor, 3)
  assert.equal(stream.items.length, 1)
})

test('all entries that were not read yet are added once more after FLUSHALL', async (t) => {
  const { pass } = stopClocks(t)
  const { stream, source, cursor } = await readOne()
  for (const jti of ['b', 'c']) {
    await source.append({ jti, until: new Date(START + HOUR) })
    await pass(SECOND)
  }
  stream.items = []
  await askAgain(source, cursor, 3)
  assert.deepEqual(
    stream.items.map(({ text }) => JSON.parse(text ?? '').jti),
    ['b', 'c'],
  )
})

test('an entry that was read before the server had answered is not lost', async (t) => {
  stopClocks(t)
  const { stream, source, cursor } = await readOne()
  const add = stream.add.bind(stream)
  const read: string[] = []
  let at: typeof cursor | null = cursor
  stream.add = async (text) => {
    const id = await add(text)
    const { pages, cursor: next } = await allPages(source, at)
    read.push(...namesOf(pages).map(String))
    at = next
    return id
  }
  await source.append({ jti: 'b', until: new Date(START + HOUR) })
  stream.items.splice(1)
  const { notices } = await allPages(source, at)
  assert.deepEqual([read, notices.length], [['b'], 1], 'it is the last one that was read')
  assert.equal(stream.items.length, 1)
})

test('an entry is kept even where ended ones cannot be deleted', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  stream.range = () => Promise.reject(new Error('NOPERM on purpose'))
  await streamSource(stream).append({ jti: 'b', until: new Date(START + HOUR) })
  assert.equal(stream.items.length, 1)
})

test('entries on their way to a server that is away are bounded', async (t) => {
  const { stream, source } = stopped(t)
  const answers: (() => void)[] = []
  stream.before = () => new Promise((resolve) => answers.push(resolve))
  const entry = { jti: 'b', until: new Date(START + HOUR) }
  const appends = Array.from({ length: 10_000 }, () => source.append(entry))
  await assert.rejects(source.append(entry), /too many at once/)
  stream.before = () => {}
  for (const answer of answers) answer()
  await Promise.all(appends)
  await source.append(entry)
  assert.equal(stream.items.length, 10_001)
})

test('an entry without an end counts from when the server took it, for each reader by its own rule', async (t) => {
  const { pass } = stopClocks(t)
  const stream = new MemoryStream()
  const list = (maxLifetime: number) =>
    denyListFunction({ ...RULES, maxLifetime }, streamSource(stream))
  const [short, long] = [list(60), list(86_400)]
  await short.add({ sub: 'alice' })
  assert.deepEqual(stream.items, [{ id: `${START}-0`, text: '{"sub":"alice"}' }])
  await pass(HOUR, HOUR)
  const started = list(60)
  for (const each of [short, long, started]) await each.ready()
  const token = tokenOf({
    issuedAt: new Date(Date.now() - SECOND),
    expiresAt: new Date(Date.now()),
  })
  const verdicts = [short, long, started].map((each) => verdictOf(each, token))
  assert.deepEqual(verdicts, [false, true, false])
  await pass(25 * DAY, DAY)
  await short.add({ sub: 'carol' })
  await settled()
  assert.deepEqual(stream.deleted, [], 'some reader may need it')
  await pass(DAY, DAY)
  await short.add({ sub: 'bob' })
  await settled()
  assert.deepEqual(stream.deleted, [`${START}-0`], 'nobody needs it any more')
})
