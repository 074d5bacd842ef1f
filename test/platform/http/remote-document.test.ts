import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RemoteDocument } from '../../../lib/platform/http/remote-document.ts'
import { controlledDocument, FRESHNESS } from '../../helpers/servers/controlled-document.ts'

const URL = 'https://login.test/keys'

test('nothing is loaded before it is opened', async (t) => {
  const { document, loads } = controlledDocument(t)
  assert.equal(document.current(), undefined)
  assert.equal(document.mayLoad, false)
  assert.equal(await document.settled(), undefined)
  assert.equal(loads.length, 0)
})

test('opening begins one load, even if it is opened many times', (t) => {
  const { document, loads } = controlledDocument(t)
  document.open()
  document.open()
  assert.equal(document.current(), undefined)
  assert.equal(loads.length, 1)
})

test('opening again begins no load before its time', async (t) => {
  const { document, loads, fail } = controlledDocument(t)
  document.open()
  await fail()
  document.open()
  assert.equal(loads.length, 1)
})

test('the changes of the document are reported, even if nobody asks for it', async (t) => {
  const changes: string[] = []
  const onChange = (change: string) => {
    if (changes.at(-1) !== change) changes.push(change)
  }
  const { document, pass, succeed, fail } = controlledDocument(t, {}, onChange)
  document.open()
  await fail()
  await pass(1)
  await succeed('one')
  // Each load hangs, and fails at its time limit.
  for (let time = 0; time < 4300; time += 10) await pass(10)
  assert.deepEqual(changes, ['failed', 'fetched', 'failed', 'stale', 'failed', 'gone', 'failed'])
})

test('the first document serves as soon as it is there', async (t) => {
  const { document, succeed } = controlledDocument(t)
  document.open()
  const waiting = document.settled()
  await succeed('one')
  assert.equal(document.current(), 'one')
  assert.equal(await waiting, 'one')
})

test('a new document is loaded once, before the old one is no longer fresh', async (t) => {
  const { document, loads, pass, succeed } = controlledDocument(t)
  document.open()
  await succeed('one')
  await pass(479)
  assert.equal(loads.length, 1)
  await pass(1)
  document.current()
  assert.equal(loads.length, 2)
  assert.equal(document.current(), 'one')
  await succeed('two')
  assert.equal(document.current(), 'two')
  await pass(479)
  assert.equal(loads.length, 2)
})

test('while there is a document, no request waits for the refresh', async (t) => {
  const { document, pass, succeed } = controlledDocument(t, { timeout: 1000 })
  document.open()
  await succeed('one')
  await pass(480)
  assert.notEqual(document.running, undefined)
  assert.equal(await document.settled(), 'one')
  await pass(400)
  assert.notEqual(document.running, undefined)
  assert.equal(await document.settled(), 'one', 'stale')
})

test('after a failed refresh the document serves for its stale time, to the second', async (t) => {
  const { document, loads, pass, succeed, fail } = controlledDocument(t)
  document.open()
  await succeed('one')
  for (let second = 1; second < 4200; second++) {
    await pass(1)
    if (document.running) await fail()
    assert.equal(document.current(), 'one')
  }
  await pass(1)
  assert.equal(document.current(), undefined)
  assert.ok(loads.length > 100, `${loads.length} loads`)
})

test('after its stale time there is a document again as soon as a load brings one', async (t) => {
  const { document, pass, succeed } = controlledDocument(t)
  document.open()
  await succeed('one')
  await pass(480)
  await pass(4000)
  assert.equal(document.current(), undefined)
  await pass(1)
  const waiting = document.settled()
  await succeed('two')
  assert.equal(await waiting, 'two')
})

test('a load ends at its time limit, and the reason is reported', async (t) => {
  const { document, loads, failures, pass } = controlledDocument(t)
  document.open()
  const waiting = document.settled()
  await pass(4.999)
  assert.equal(loads[0]?.signal.aborted, false)
  await pass(0.001)
  assert.equal(loads[0]?.signal.aborted, true)
  assert.equal(await waiting, undefined)
  assert.deepEqual(failures, ['no answer in time'])
})

test('the limit of a load that came in time does not end the next one', async (t) => {
  const { document, loads, pass, succeed } = controlledDocument(t, { maxAge: 5 })
  document.open()
  await succeed('one')
  await pass(4)
  await pass(1)
  assert.equal(loads.length, 2)
  assert.deepEqual(
    loads.map(({ signal }) => signal.aborted),
    [false, false],
  )
})

test('an error from other code than the fetch is reported in constant words', async (t) => {
  const { document, failures, fail } = controlledDocument(t)
  document.open()
  await fail(new TypeError('secret'))
  assert.deepEqual(failures, ['the answer cannot be used'])
})

test('a failure is reported with the address, without its query', async (t) => {
  const { document, addresses, fail } = controlledDocument(t)
  document.open()
  await fail()
  assert.deepEqual(addresses, ['https://login.test/keys'])
})

test('a load that is under way keeps no process alive', () => {
  const load = () => new Promise<never>(() => {})
  const document = new RemoteDocument({ url: URL, load }, FRESHNESS, { onFailure: () => {} })
  const timers = () => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
  const before = timers()
  document.open()
  assert.notEqual(document.running, undefined)
  assert.equal(timers(), before)
  document.close()
})

test('a load that throws at once fails like any other', async () => {
  const failures: string[] = []
  const load = () => {
    throw new TypeError('secret')
  }
  const onFailure = (reason: string) => failures.push(reason)
  const document = new RemoteDocument({ url: URL, load }, FRESHNESS, { onFailure })
  document.open()
  assert.equal(await document.settled(), undefined)
  document.close()
  assert.deepEqual(failures, ['the answer cannot be used'])
})

test('a listener that throws ends neither the process nor the attempts', async () => {
  const load = async () => {
    throw new TypeError('secret')
  }
  const onFailure = () => {
    throw new Error('the log is full')
  }
  const document = new RemoteDocument({ url: URL, load }, { ...FRESHNESS, retry: 0 }, { onFailure })
  document.open()
  assert.equal(await document.reload(), false)
  assert.equal(document.current(), undefined)
  document.close()
})

test('there is one load at a time, for any number of requests', async (t) => {
  const { document, loads, succeed } = controlledDocument(t)
  document.open()
  const waiting = Array.from({ length: 500 }, () => document.settled())
  const running = document.running
  for (let i = 0; i < 500; i++) document.current()
  assert.equal(document.running, running)
  assert.equal(loads.length, 1)
  await succeed('one')
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['one']))
  assert.equal(document.running, undefined)
})

test('after a failure, requests do not wait for the next attempt', async (t) => {
  const { document, loads, fail } = controlledDocument(t)
  document.open()
  await fail()
  assert.equal(await document.settled(), undefined)
  assert.equal(loads.length, 1)
})

test('reload begins at once if no load is under way, even within the wait', async (t) => {
  const { document, loads, succeed, fail } = controlledDocument(t)
  document.open()
  await fail()
  assert.equal(document.mayLoad, false)
  const reloaded = document.reload()
  assert.equal(loads.length, 2)
  await succeed('one')
  assert.equal(await reloaded, true)
  assert.equal(document.current(), 'one')
})

test('reload begins after a load that is under way, and once for all callers', async (t) => {
  const { document, loads, succeed, fail } = controlledDocument(t)
  document.open()
  const reloads = Promise.all([document.reload(), document.reload()])
  assert.equal(loads.length, 1)
  await succeed('one')
  assert.equal(loads.length, 2)
  const later = document.reload()
  await succeed('two')
  assert.deepEqual(await reloads, [true, true])
  assert.equal(loads.length, 3)
  assert.equal(document.current(), 'two')
  await fail()
  assert.equal(await later, false)
  assert.equal(document.current(), 'two')
})

test('reload after a running load that fails still loads', async (t) => {
  const { document, loads, succeed, fail } = controlledDocument(t)
  document.open()
  const reloaded = document.reload()
  await fail()
  assert.equal(loads.length, 2)
  await succeed('one')
  assert.equal(await reloaded, true)
})
