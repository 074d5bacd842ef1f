import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { controlledDocument, loadedDocument } from '../../helpers/servers/controlled-document.ts'

const lazyDocument = (t: TestContext, freshness: object = {}) =>
  controlledDocument(t, { isLazy: true, ...freshness })

const loadedLazily = (t: TestContext, freshness: object = {}) =>
  loadedDocument(t, { isLazy: true, ...freshness })

test('opening loads nothing; whoever asks first begins the load', async (t) => {
  for (const ask of ['current', 'settled'] as const) {
    const { document, loads, pass, succeed } = lazyDocument(t)
    document.open()
    await pass(5000)
    assert.equal(loads.length, 0)
    const asked = document[ask]()
    assert.equal(loads.length, 1)
    await succeed('one')
    assert.equal(await asked, ask === 'settled' ? 'one' : undefined)
    assert.equal(document.current(), 'one')
    t.mock.timers.reset()
  }
})

test('while it is not used, it is never asked for again', async (t) => {
  const { document, loads, pass } = await loadedLazily(t)
  for (let hour = 0; hour < 48; hour++) await pass(3600)
  assert.equal(loads.length, 1)
  assert.equal(document.state().state, 'none')
  assert.equal(loads.length, 1, 'to look at its state is no use of it')
})

test('while it is used, it is refreshed in the background, and nobody waits', async (t) => {
  const { document, loads, pass, succeed } = await loadedLazily(t)
  await pass(479)
  document.current()
  assert.equal(loads.length, 1)
  await pass(1)
  assert.equal(document.current(), 'one')
  assert.equal(loads.length, 2)
  assert.equal(await document.settled(), 'one')
  assert.equal(loads.length, 2, 'one load at a time')
  await succeed('two')
  assert.equal(document.current(), 'two')
})

test('the wait after a failure holds for those who ask', async (t) => {
  const { document, loads, pass, fail } = lazyDocument(t, { retry: 10 })
  document.open()
  document.current()
  await fail()
  assert.equal(await document.settled(), undefined)
  assert.equal(document.mayLoad, false)
  await pass(9.9)
  assert.equal(document.retryAfter, 0.1)
  assert.equal(document.current(), undefined)
  assert.equal(loads.length, 1)
  await pass(0.1)
  document.current()
  assert.equal(loads.length, 2)
})

test('a refresh that fails is tried again after the wait, who asked meanwhile or not', async (t) => {
  const { document, loads, pass, fail } = await loadedLazily(t, { retry: 0.2, timeout: 2 })
  await pass(480)
  for (const tries of [2, 3]) {
    assert.equal(document.current(), 'one')
    assert.equal(loads.length, tries)
    assert.equal(document.current(), 'one', 'while it is loaded')
    await fail()
    await pass(0.2)
  }
})

test('unused beyond its age, it serves no more before its server was asked', async (t) => {
  const { document, pass, succeed } = await loadedLazily(t)
  await pass(600)
  assert.equal(document.current(), undefined)
  const waiting = document.settled()
  await succeed('two')
  assert.equal(await waiting, 'two')
})

test('where its server fails then, the old one serves, as far as it may be stale', async (t) => {
  const { document, pass, fail } = await loadedLazily(t)
  await pass(4199)
  const waiting = document.settled()
  await fail()
  assert.equal(await waiting, 'one')
  assert.equal(document.state().state, 'stale')
  await pass(1)
  assert.equal(document.current(), undefined)
})

test('used all through an outage, the old one serves at once, to the second', async (t) => {
  const { document, loads, pass, fail } = await loadedLazily(t)
  for (let second = 1; second < 4200; second++) {
    await pass(1)
    assert.equal(document.current(), 'one', `after ${second} s`)
    // It hangs as long as it may.
    if (document.running && second % 5 === 0) await fail()
  }
  await pass(1)
  assert.equal(document.current(), undefined)
  assert.ok(loads.length > 100, `${loads.length} loads`)
})

test('an outage of long ago lets nothing old serve', async (t) => {
  const { document, pass, succeed, fail } = await loadedLazily(t)
  await pass(1000)
  document.current()
  await fail()
  assert.equal(document.current(), 'one')
  await pass(1000)
  assert.equal(document.current(), undefined)
  const waiting = document.settled()
  await succeed('two')
  assert.equal(await waiting, 'two')
})

test('a look at a fresh document that fails shortens nothing', async (t) => {
  const { document, pass, fail } = await loadedLazily(t)
  void document.reload()
  await fail()
  await pass(470)
  assert.equal(document.current(), 'one')
})

test('without any age it is asked for each time, and serves those who waited', async (t) => {
  const { document, loads, pass, succeed } = lazyDocument(t, { maxAge: 0 })
  document.open()
  const waiting = document.settled()
  await succeed('one')
  assert.equal(await waiting, 'one')
  assert.equal(document.current(), 'one')
  assert.equal(loads.length, 1, 'no busy loop')
  await pass(0.02)
  assert.equal(document.current(), undefined)
  assert.equal(loads.length, 2)
})

test('closed and opened again, it begins nothing until it is used', async (t) => {
  const { document, loads, failures, pass, succeed } = lazyDocument(t)
  document.open()
  document.current()
  document.close()
  await pass(100)
  assert.equal(document.current(), undefined)
  assert.equal(loads.length, 1)
  document.open()
  await pass(100)
  assert.equal(loads.length, 1)
  document.current()
  await succeed('one')
  assert.equal(document.current(), 'one')
  assert.deepEqual(failures, [])
})

test('closed during a load and opened again, whoever asks first begins the next load', async (t) => {
  const { document, loads, succeed } = lazyDocument(t)
  document.open()
  document.current()
  document.close()
  assert.equal(document.retryAfter, 0)
  document.open()
  const settled = document.settled()
  assert.equal(loads.length, 2)
  await succeed('two')
  assert.equal(await settled, 'two')
})
