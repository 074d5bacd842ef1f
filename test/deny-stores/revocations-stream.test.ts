import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { denyListFunction } from '../../lib/deny-list/deny-list-function.ts'
import { RevocationsStream } from '../../lib/deny-stores/revocations-stream.ts'
import { MemoryStream } from '../helpers/servers/memory-stream.ts'
import {
  attend,
  HOUR,
  SECOND,
  START,
  settled,
  stopClocks,
  tokenOf,
  verdictOf,
} from '../helpers/tokens/denied.ts'

const DAY = 24 * HOUR

const textOf = (jti: string, end: number) => JSON.stringify({ jti, until: new Date(end) })

/** A stream with one entry, which has been read. */
async function readOne() {
  const stream = new MemoryStream()
  const source = new RevocationsStream(stream)
  const told: string[] = []
  stream.put(10, textOf('a', START + HOUR))
  source.listen(
    () => {},
    (reason) => told.push(reason),
  )
  const { cursor } = await source.changes(null)
  source.end()
  const read = async () => (await source.changes(cursor)).entries.map(({ jti }) => jti)
  return { stream, source, told, cursor, read }
}

const LOST: [what: string, change: (stream: MemoryStream) => void, names: string[]][] = [
  ['is gone', ({ items }) => items.splice(0, 1, item(5, 'b')), ['b']],
  ['has other words', ({ items }) => items.splice(0, 1, item(10, 'b')), ['b']],
  ['is gone with all', ({ items }) => items.splice(0), []],
]

const item = (id: number, jti: string) => ({ id: `${id}-0`, text: textOf(jti, START + HOUR) })

for (const [what, change, names] of LOST) {
  test(`where the item that was read last ${what}, all is read anew, and it is told`, async (t) => {
    stopClocks(t)
    const { stream, told, read } = await readOne()
    assert.deepEqual(await read(), [])
    change(stream)
    assert.deepEqual(await read(), names)
    assert.deepEqual(told, ['the deny list lost entries in its stream'])
  })
}

test('an item that is gone since it has ended is no loss, and all is read anew', async (t) => {
  const { pass } = stopClocks(t)
  const { stream, told, read } = await readOne()
  await pass(HOUR + SECOND, HOUR)
  stream.items = [item(20, 'b')]
  assert.deepEqual(await read(), ['b'])
  assert.deepEqual(told, [])
})

test('a long first load goes on where it was late, and counts when all is there', async (t) => {
  const { pass } = stopClocks(t)
  const stream = new MemoryStream()
  const source = new RevocationsStream(stream)
  for (let i = 1; i <= 5000; i++) stream.put(i, textOf(`${i}`, START + HOUR))
  // The server takes six seconds for a page.
  stream.before = () => pass(6 * SECOND)
  await assert.rejects(source.changes(null), /late/)
  await assert.rejects(source.changes(null), /late/)
  const { entries, cursor } = await source.changes(null)
  assert.equal(new Set(entries.map(({ jti }) => jti)).size, 5000)
  assert.equal(cursor.id, '5000-0')
  assert.equal(stream.asked, 6)
})

test('where the stream changes between two pages, it is read anew', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  const source = new RevocationsStream(stream)
  for (let i = 1; i <= 1500; i++) stream.put(i, textOf(`${i}`, START + HOUR))
  stream.before = () => {
    if (stream.asked === 2) stream.items = [item(7, 'other'), item(1500, 'history')]
  }
  const { entries } = await source.changes(null)
  assert.deepEqual(
    entries.slice(-2).map(({ jti }) => jti),
    ['other', 'history'],
  )
})

test('a client that never answers is asked once, and by the latest question next', async (t) => {
  const { pass } = stopClocks(t)
  const stream = new MemoryStream()
  const source = new RevocationsStream(stream)
  const answers: (() => void)[] = []
  stream.before = () => new Promise((resolve) => answers.push(resolve))
  const first = source.changes(null)
  const givenUp = source.changes(null)
  await pass(11 * SECOND)
  const latest = source.changes(null)
  await settled()
  assert.equal(stream.asked, 1)
  stream.before = () => {}
  answers[0]?.()
  assert.deepEqual(await Promise.race([givenUp, first.then(() => 'first')]), 'first')
  assert.deepEqual((await latest).entries, [])
})

const UNREADABLE = [null, '', '1', 'null', '[]', '{', '"text"']

test('what cannot be read stands as an entry that is refused', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  for (const [i, text] of UNREADABLE.entries()) stream.put(i + 1, text)
  const source = new RevocationsStream(stream)
  const { entries, cursor } = await source.changes(null)
  assert.deepEqual(
    entries,
    UNREADABLE.map(() => ({ until: '' })),
  )
  // It has no end, so that its loss is told.
  stream.items = []
  const told: string[] = []
  source.listen(
    () => {},
    (reason) => told.push(reason),
  )
  await source.changes(cursor)
  source.end()
  assert.equal(told.length, 1)
})

test('entries that ended a day ago are deleted, by both clocks, and no others', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  const source = new RevocationsStream(stream)
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
    const source = new RevocationsStream(stream)
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
  const source = new RevocationsStream(stream)
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
  await new RevocationsStream(stream).append({ jti: 'b', until: new Date(START + HOUR) })
  assert.equal(stream.items.length, 1)
})

test('entries on their way to a server that is away are bounded', async (t) => {
  stopClocks(t)
  const stream = new MemoryStream()
  const source = new RevocationsStream(stream)
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

/** A list that asks once an hour, so that what it knows earlier it knows by a wake. */
async function listOnceAnHour(t: TestContext) {
  const { pass } = stopClocks(t)
  const stream = new MemoryStream()
  stream.hasBeyond = async (id) => {
    if (stream.items.some((each) => Number.parseInt(each.id, 10) > Number.parseInt(id, 10))) {
      return true
    }
    await new Promise((resolve) => setTimeout(resolve, 2 * SECOND))
    return false
  }
  const rules = {
    interval: 3600,
    maxStale: 7200,
    whenStale: 'refuse',
    maxLifetime: 86_400,
  } as const
  const list = denyListFunction({ ...rules, maxEntries: 100 }, new RevocationsStream(stream))
  stream.put(50, textOf('first', START + HOUR))
  attend(t, list)
  await pass(10 * SECOND)
  const knows = (jti: string) => verdictOf(list, tokenOf({ jti }))
  assert.deepEqual([knows('first'), knows('second')], [true, false])
  return { list, pass, stream, knows }
}

test('what came by an answer that was too late is asked for again, not an hour later', async (t) => {
  const { list, pass, stream, knows } = await listOnceAnHour(t)
  const away = new Promise<void>((back) => setTimeout(back, 11 * SECOND))
  stream.before = () => away
  stream.lose()
  stream.put(60, textOf('second', START + HOUR))
  list.wake()
  await pass(60 * SECOND)
  assert.equal(knows('second'), true)
})

test('in a stream that began anew, entries of lower ids wake too', async (t) => {
  const { list, pass, stream, knows } = await listOnceAnHour(t)
  stream.items = [item(5, 'other')]
  list.wake()
  await pass(10 * SECOND)
  stream.items.push(item(7, 'second'))
  await pass(10 * SECOND)
  assert.deepEqual([knows('other'), knows('second')], [true, true])
})

test('while nothing comes, it is not woken, and an entry costs one more look', async (t) => {
  const { pass, stream, knows } = await listOnceAnHour(t)
  const { asked } = stream
  stream.put(60, textOf('second', START + HOUR))
  await pass(60 * SECOND)
  assert.equal(knows('second'), true)
  assert.equal(stream.asked, asked + 2)
})
