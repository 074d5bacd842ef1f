import assert from 'node:assert/strict'
import { beforeEach, type TestContext, test } from 'node:test'
import { TEST_KEY_NAME } from '../../../lib/identity/jwks/jwk-set.ts'
import {
  type KeyEvents,
  RemoteKeys,
  type RemoteKeysOptions,
} from '../../../lib/identity/jwks/key-source.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { holdTime } from '../../helpers/processes/age-by-date.ts'
import { KeyServer } from '../../helpers/servers/key-server.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'

const one = forgeKey('ES256', 'one').publicJwk

/** The defaults, but with a time limit that no test waits for. */
const DEFAULTS = { timeout: 60, maxAge: 600, maxStale: 3600, retry: 1, retryMax: 30, cooldown: 30 }

let keys: unknown[] = []
beforeEach(() => {
  keys = [one]
})

/**
 * Keys at a server, on a clock that a test moves by hand. The waits run on real timers that no test
 * waits for.
 */
async function remoteKeys(
  t: TestContext,
  options: Partial<RemoteKeysOptions> = {},
  events: Pick<KeyEvents, 'onTestKeys'> = {},
) {
  holdTime(t, { apis: ['Date'], now: Date.now() })
  const server = await KeyServer.start(() => ({ keys }))
  const failures: string[] = []
  const source = new RemoteKeys(
    { ...DEFAULTS, location: { url: server.url }, ...options },
    { onFailure: (reason) => failures.push(reason), ...events },
  )
  t.after(async () => {
    source.close()
    await server.close()
  })
  const pass = (seconds: number) => t.mock.timers.setTime(Date.now() + seconds * 1000)
  const has = (kid: string) => typeof source.current()?.find({ alg: 'ES256', kid }) === 'object'
  return { server, source, failures, pass, has }
}

test('a set with a key of a test authority among others is reported once, and no other is', async (t) => {
  let reports = 0
  const onTestKeys = () => {
    reports += 1
  }
  const { source } = await remoteKeys(t, {}, { onTestKeys })
  source.open()
  await source.settled()
  assert.equal(reports, 0)
  keys = [{ ...one, kid: 'a' }, { ...one, kid: `${TEST_KEY_NAME}1` }, one]
  await source.reload()
  await source.reload()
  assert.equal(reports, 1)
})

test('there is no look during the wait after a failure', async (t) => {
  const { server, source, pass } = await remoteKeys(t, { cooldown: 0, retry: 20 })
  source.open()
  await source.settled()
  await server.fail('status 500')
  await source.lookAgain()
  pass(19.9)
  assert.equal(source.lookAgain(), undefined)
  pass(0.1)
  await source.lookAgain()
  assert.equal(server.fetches, 3)
})

test('the cooldown lasts as long if the wall clock is set', async (t) => {
  const { server, source } = await remoteKeys(t)
  let passed = 0
  t.mock.method(clock, 'now', () => passed)
  source.open()
  await source.settled()
  await source.lookAgain()
  for (const time of [4_000_000_000_000, 0]) {
    t.mock.timers.setTime(time)
    assert.equal(source.lookAgain(), undefined)
  }
  passed += 30_000
  await source.lookAgain()
  assert.equal(server.fetches, 3)
})
