import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { until } from '../helpers/processes/until.ts'
import { hangingFaults } from '../helpers/servers/key-faults.ts'
import { freshToken, type KeyOutage, startKeyOutage } from '../helpers/servers/key-outage.ts'
import { type FaultName, faultNames } from '../helpers/servers/key-server.ts'

const REQUESTS = 10_000
const AT_ONCE = 50

/** Four of five tokens were seen before, and the clock goes on meanwhile. */
async function failedOf(probe: KeyOutage, seconds: number): Promise<number> {
  const known = Array.from({ length: 100 }, freshToken)
  let failed = 0
  for (let asked = 0; asked < REQUESTS; asked += AT_ONCE) {
    probe.pass((seconds * AT_ONCE) / REQUESTS)
    const batch = Array.from({ length: AT_ONCE }, (_, i) =>
      probe.ask((i % 5 ? known[(asked + i) % known.length] : undefined) ?? freshToken()),
    )
    for (const { statusCode } of await Promise.all(batch)) if (statusCode !== 200) failed += 1
    probe.log.length = 0
  }
  return failed
}

/** One fault of each kind. The normal suite shows that the others are the same. */
const faults: FaultName[] = [
  'status 503',
  'a reset',
  'refused',
  'no answer',
  'a dripping body',
  'a page',
  'no keys',
  'a redirect',
  'a huge body in gzip',
]

for (const fault of faults) {
  test(`fresh, ${fault}: 0 of ${REQUESTS} good requests fail`, async (t) => {
    const probe = await startKeyOutage(t)
    await probe.ask(freshToken())
    await probe.server.fail(fault)
    assert.equal(await failedOf(probe, 599), 0)
  })

  test(`stale, ${fault}: 0 of ${REQUESTS} good requests fail or wait`, async (t) => {
    // A request that waits for a hanging server meets the time limit of the run.
    const keysTimeout = fault in hangingFaults ? 2_147_483 : 5
    const probe = await startKeyOutage(t, { keysTimeout })
    await probe.ask(freshToken())
    await probe.server.fail(fault)
    probe.pass(600)
    assert.equal(await failedOf(probe, 3590), 0)
  })
}

test('cold, 503 comes before twice the keysTimeout has passed, with every fault', async (t) => {
  for (const fault of faultNames) {
    await t.test(fault, async (t) => {
      const keysTimeout = 1
      const probe = await startKeyOutage(t, { keysTimeout }, (server) => server.fail(fault))
      const events: string[] = []
      const late = setTimeout(2000 * keysTimeout).then(() => events.push('twice the time'))
      const { statusCode, headers } = await probe.ask(freshToken())
      events.push('answer')
      assert.equal(statusCode, 503)
      assert.match(String(headers['retry-after']), /^[1-9]\d*$/)
      await late
      assert.deepEqual(events, ['answer', 'twice the time'])
    })
  }
})

test('with the default settings, a server that comes back is found by the next fetch', async (t) => {
  const probe = await startKeyOutage(t, {}, (server) => server.fail('status 503'))
  t.mock.timers.reset()
  assert.equal((await probe.ask(freshToken())).statusCode, 503)
  await probe.server.fail(null)
  const { fetches } = probe.server
  await until(() => probe.service.isReady())
  assert.equal(probe.server.fetches, fetches + 1)
})
