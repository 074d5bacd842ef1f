import assert from 'node:assert/strict'
import { test } from 'node:test'
import { denyListFunction } from '../../../../lib/entrypoints/revocation/deny-list-function.ts'
import type { DenyListRules } from '../../../../lib/entrypoints/revocation/deny-list-options.ts'
import {
  redisFailure,
  streamSource,
} from '../../../../lib/entrypoints/revocation/redis/stream-source.ts'
import { MemoryStream } from '../../../helpers/servers/memory-stream.ts'
import {
  HOUR,
  SECOND,
  START,
  settled,
  stopClocks,
  tokenOf,
  verdictOf,
} from '../../../helpers/tokens/denied.ts'

/** What is no refusal of a server, and stays as it is. */
const OTHERS = [
  new Error('Connection is closed.'),
  new Error('HUNTER2 is the password'),
  new Error(''),
  'NOAUTH',
  undefined,
]

test('a refusal of a server becomes its code, without its words', () => {
  const failure = Object(redisFailure(new Error('NOPERM User hunter2 has no permissions')))
  assert.equal(failure.code, 'NOPERM')
  assert.doesNotMatch(failure.message, /hunter2/)
})

for (const other of OTHERS) {
  test(`no refusal of a server: ${other}`, () => {
    assert.equal(redisFailure(other), other)
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

test('if the item that was read last is there after a failure, all is read anew, and nothing noticed', async (t) => {
  stopClocks(t)
  const { source, stream } = await readOne()
  stream.put(20, textOf('b', START + HOUR))
  const { pages, notices } = await allPages(source, null)
  assert.deepEqual([namesOf(pages), notices], [['a', 'b'], []])
})

test('an item that is gone since it has ended is no loss, and all is read anew', async (t) => {
  const { pass } = stopClocks(t)
  const { stream, noticed, read } = await readOne()
  await pass(HOUR + SECOND, HOUR)
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
  stopClocks(t)
  const stream = new MemoryStream()
  const source = streamSource(stream)
  for (let i = 1; i <= 1500; i++) stream.put(i, textOf(`${i}`, START + HOUR))
  stream.before = () => {
    if (stream.asked === 2) stream.items = [item(7, 'other'), item(1500, 'history')]
  }
  const { pages } = await allPages(source, null)
  assert.deepEqual(namesOf(pages).slice(-2), ['other', 'history'])
})

test('a client that never answers is asked once, and again when it has', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  const source = streamSource(stream)
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
  stopClocks(t)
  const stream = new MemoryStream()
  const source = streamSource(stream)
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
    stopClocks(t)
    const stream = new MemoryStream()
    const source = streamSource(stream)
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
  const { pass } = stopClocks(t)
  const stream = new MemoryStream()
  const source = streamSource(stream)
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

test('an entry is kept even where ended ones cannot be deleted', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  stream.range = () => Promise.reject(new Error('NOPERM on purpose'))
  await streamSource(stream).append({ jti: 'b', until: new Date(START + HOUR) })
  assert.equal(stream.items.length, 1)
})

test('entries on their way to a server that is away are bounded', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  const source = streamSource(stream)
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
  for (const each of [short, long]) await each.ready()
  const token = tokenOf({
    issuedAt: new Date(Date.now() - SECOND),
    expiresAt: new Date(Date.now()),
  })
  assert.deepEqual([verdictOf(short, token), verdictOf(long, token)], [false, true])
  await pass(26 * DAY, DAY)
  await short.add({ sub: 'bob' })
  await settled()
  assert.deepEqual(stream.deleted, [`${START}-0`], 'nobody needs it any more')
})
