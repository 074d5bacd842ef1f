import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../helpers/processes/until.ts'
import { freshToken, startKeyOutage } from '../helpers/servers/key-outage.ts'
import type { FaultName } from '../helpers/servers/key-server.ts'

/** Short waits on a real clock, in seconds. A busy machine is slow to answer: that is no fault. */
const SHORT = { keysRetry: 0.15, keysCooldown: 0.6, keysTimeout: 2 }

const outages: FaultName[] = ['status 500', 'a reset', 'refused', 'no answer', 'a page', 'no keys']

for (const fault of outages) {
  test(`after a single failure (${fault}) it recovers with one fetch`, async (t) => {
    const probe = await startKeyOutage(t, SHORT, (server) => server.fail(fault))
    t.mock.timers.reset()
    assert.equal((await probe.ask(freshToken())).statusCode, 503)
    await probe.server.fail(null)
    const { fetches } = probe.server
    await until(() => probe.service.isReady())
    // The next retry would have been due later.
    assert.ok(probe.server.fetches <= fetches + 1, `${probe.server.fetches - fetches} fetches`)
    assert.equal((await probe.ask(freshToken())).statusCode, 200)
  })
}

test('after many failures it recovers with one fetch', async (t) => {
  const probe = await startKeyOutage(t, SHORT, (server) => server.fail('status 503'))
  t.mock.timers.reset()
  await until(() => probe.server.fetches >= 4)
  const response = await probe.ask(freshToken())
  assert.equal(response.statusCode, 503)
  await probe.server.fail(null)
  const { fetches } = probe.server
  await until(() => probe.service.isReady())
  assert.ok(probe.server.fetches <= fetches + 1, `${probe.server.fetches - fetches} fetches`)
})

test('the refresh and its retries run without a request', async (t) => {
  const probe = await startKeyOutage(t, { ...SHORT, keysMaxAge: 0.3 })
  t.mock.timers.reset()
  await until(() => probe.server.fetches >= 3)
  await probe.server.fail('status 500')
  const failed = probe.server.fetches
  await until(() => probe.server.fetches >= failed + 2)
  assert.equal((await probe.ask(freshToken())).statusCode, 200, 'stale')
  await probe.server.fail(null)
  const { fetches } = probe.server
  await until(() => probe.server.fetches >= fetches + 3)
  assert.equal(probe.server.mostAtOnce, 1)
})
