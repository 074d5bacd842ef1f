import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RemoteDocument } from '../../../lib/platform/http/remote-document.ts'
import { controlledDocument, FRESHNESS } from '../../helpers/servers/controlled-document.ts'

const URL = 'https://login.test/keys'

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

test('the limit of a load that came in time does not end the next one', async (t) => {
  const { document, loads, pass, succeed } = controlledDocument(t, { maxAge: 5 })
  document.open()
  await succeed('one')
  await pass(4)
  await pass(1)
  assert.equal(loads.length, 2)
  const found = loads.map(({ signal }) => signal.aborted)
  assert.deepEqual(found, [false, false])
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
