import assert from 'node:assert/strict'
import { test } from 'node:test'
import { controlledDocument } from '../helpers/controlled-document.ts'

/** A clock that jumps while the timers do not, as after a sleep or a correction of the time. */
const HOUR = 3600_000

test('a process that slept asks for a new document at the next request', async (t) => {
  const { document, loads, succeed } = controlledDocument(t)
  document.open()
  await succeed('one')
  const now = Date.now()
  t.mock.method(Date, 'now', () => now + HOUR)
  assert.equal(document.current(), 'one')
  document.current()
  assert.equal(loads.length, 2)
})

test('a process that slept beyond the stale time waits for the new document', async (t) => {
  const { document, loads, succeed } = controlledDocument(t)
  document.open()
  await succeed('one')
  const now = Date.now()
  t.mock.method(Date, 'now', () => now + 2 * HOUR)
  const waiting = document.settled()
  assert.equal(loads.length, 2)
  await succeed('two')
  assert.equal(await waiting, 'two')
})

test('a clock that is set back does not put off the refresh', async (t) => {
  const { document, loads, pass, succeed } = controlledDocument(t)
  document.open()
  await succeed('one')
  const actual = Date.now
  t.mock.method(Date, 'now', () => actual() - HOUR)
  await pass(480)
  assert.equal(loads.length, 2)
  await succeed('two')
  await pass(480)
  assert.equal(loads.length, 3)
})

test('a clock that is set back does not let a document serve longer', async (t) => {
  const { document, pass, succeed, fail } = controlledDocument(t)
  document.open()
  await succeed('one')
  const actual = Date.now
  t.mock.method(Date, 'now', () => actual() - 24 * HOUR)
  for (let passed = 0; passed < 4300; passed += 10) {
    await pass(10)
    if (document.running) await fail()
    document.current()
  }
  assert.equal(document.current(), undefined)
})
