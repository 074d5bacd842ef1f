import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { RemoteDocument } from '../../../lib/platform/http/remote-document.ts'
import {
  controlledDocument,
  FRESHNESS,
  loadedDocument,
} from '../../helpers/servers/controlled-document.ts'

const URL = 'https://login.test/keys'

test('closing ends the load that is under way, and reports no failure', async (t) => {
  const { document, loads, failures, pass } = controlledDocument(t)
  document.open()
  const waiting = document.settled()
  document.close()
  assert.equal(loads[0]?.signal.aborted, true)
  assert.equal(await waiting, undefined)
  await pass(3600)
  assert.deepEqual(failures, [])
  assert.equal(loads.length, 1)
})

test('closing ends the wait for the refresh, and the wait after a failure', async (t) => {
  const { document, loads, pass, fail } = await loadedDocument(t)
  document.close()
  await pass(3600)
  assert.equal(loads.length, 1)
  document.open()
  await pass(1)
  await fail()
  document.close()
  await pass(3600)
  assert.equal(loads.length, 2)
})

test('once closed, it serves its document and loads no other', async (t) => {
  const { document, loads, pass } = await loadedDocument(t)
  document.close()
  await pass(1000)
  assert.equal(document.current(), 'one')
  await pass(3600)
  assert.equal(document.current(), undefined)
  assert.equal(document.mayLoad, false)
  assert.equal(loads.length, 1)
})

test('a document that comes after closing begins no timer', async (t) => {
  const { document, loads, pass, succeed } = controlledDocument(t)
  document.open()
  loads[0]?.resolve('one')
  document.close()
  await succeed('one')
  await pass(3600)
  assert.equal(loads.length, 1)
})

test('a reload that waits for its turn does not begin after closing', async (t) => {
  const { document, loads, pass } = controlledDocument(t)
  document.open()
  const reloaded = document.reload()
  document.close()
  await pass(0)
  assert.equal(loads.length, 1, 'a load began after close()')
  assert.equal(await reloaded, false)
})

test('opened again with a usable document, it serves and refreshes it in its time', async (t) => {
  const { document, loads, pass } = await loadedDocument(t)
  document.close()
  await pass(100)
  document.open()
  assert.equal(document.current(), 'one')
  await pass(379)
  assert.equal(loads.length, 1)
  await pass(1)
  assert.equal(loads.length, 2)
})

test('opened again with a document that is too old, it waits for a new one at once', async (t) => {
  const { document, loads, pass, succeed } = await loadedDocument(t)
  document.close()
  await pass(5000)
  document.open()
  const waiting = document.settled()
  assert.equal(loads.length, 2)
  await succeed('two')
  assert.equal(await waiting, 'two')
})

test('a reload before opening loads, and begins no timer', async (t) => {
  const { document, loads, pass, succeed } = controlledDocument(t)
  const reloaded = document.reload()
  await succeed('one')
  assert.equal(await reloaded, true)
  assert.equal(document.current(), 'one')
  await pass(3600)
  assert.equal(loads.length, 1)
})

test('a reload after closing loads nothing', async (t) => {
  const { document, loads } = await loadedDocument(t)
  document.close()
  assert.equal(await document.reload(), false)
  assert.equal(loads.length, 1)
})

test('opened again before the ended load has settled, it begins its own load', async (t) => {
  const { document, loads, failures, pass, succeed } = controlledDocument(t)
  document.open()
  document.close()
  document.open()
  await pass(0)
  assert.deepEqual(failures, [], 'the end of the old load is no failure of the new one')
  assert.equal(loads.length, 2)
  assert.notEqual(document.running, undefined, 'the new load is under way')
  await succeed('one')
  assert.equal(document.current(), 'one')
})

test('a late result of a load before closing does not replace a newer document', async () => {
  const resolves: ((value: string) => void)[] = []
  const load = () => new Promise<string>((resolve) => void resolves.push(resolve))
  const document = new RemoteDocument({ url: URL, load }, FRESHNESS, { onFailure: () => {} })
  document.open()
  document.close()
  document.open()
  resolves[1]?.('new')
  assert.equal(await document.settled(), 'new')
  resolves[0]?.('old')
  await setImmediate()
  assert.equal(document.current(), 'new')
  document.close()
})

test('closing again leaves no timer from before', async (t) => {
  const { document, loads, pass } = await loadedDocument(t)
  void document.reload()
  document.close()
  document.open()
  await pass(0)
  const count = loads.length
  document.close()
  await pass(3600)
  assert.equal(loads.length, count, 'a load began after close()')
})
