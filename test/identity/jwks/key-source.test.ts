import assert from 'node:assert/strict'
import { beforeEach, type TestContext, test } from 'node:test'
import { KeySet, TEST_KEY_NAME } from '../../../lib/identity/jwks/jwk-set.ts'
import {
  type KeyEvents,
  RemoteKeys,
  type RemoteKeysOptions,
  StaticKeys,
} from '../../../lib/identity/jwks/key-source.ts'
import { clock } from '../../../lib/platform/runtime/clock.ts'
import { ageByDate } from '../../helpers/processes/age-by-date.ts'
import { until } from '../../helpers/processes/until.ts'
import { hangingFaults } from '../../helpers/servers/key-faults.ts'
import { faultNames, KeyServer } from '../../helpers/servers/key-server.ts'
import { forgeKey } from '../../helpers/tokens/forge.ts'

const one = forgeKey('ES256', 'one').publicJwk
const two = forgeKey('ES256', 'two').publicJwk

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
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  ageByDate(t)
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

test('the keys are fetched when it is opened', async (t) => {
  const { server, source, has } = await remoteKeys(t)
  assert.equal(source.current(), undefined)
  source.open()
  assert.equal(source.current(), undefined)
  assert.notEqual(await source.settled(), undefined)
  assert.equal(has('one'), true)
  assert.equal(server.fetches, 1)
})

test('the same keys stay the same set, so their verified tokens stay verified', async (t) => {
  const { source } = await remoteKeys(t)
  keys = [one, two]
  source.open()
  const first = await source.settled()
  keys = [two, { kty: 'oct', kid: 'of no use' }, one]
  assert.equal(await source.reload(), true)
  assert.equal(source.current(), first)
})

test('a set that lacks a key, or has another in its place, replaces the whole old one', async (t) => {
  const { source, has } = await remoteKeys(t)
  keys = [one, two]
  source.open()
  const first = await source.settled()
  keys = [two]
  assert.equal(await source.reload(), true)
  assert.notEqual(source.current(), first)
  assert.deepEqual([has('one'), has('two')], [false, true])
  const second = source.current()
  keys = [{ ...one, kid: 'two' }]
  assert.equal(await source.reload(), true)
  assert.notEqual(source.current(), second)
  keys = [two]
  assert.equal(await source.reload(), true)
  assert.notEqual(source.current(), second, 'what came between is not forgotten')
})

for (const fault of faultNames) {
  test(`${fault}: without keys there are still none, and with keys they stay`, async (t) => {
    const { server, source, failures } = await remoteKeys(t)
    /** A request that hangs ends with its server. */
    const end = async (fetches: number): Promise<void> => {
      if (!(fault in hangingFaults)) return
      await until(() => server.fetches >= fetches)
      await server.close()
    }
    await server.fail(fault)
    source.open()
    await end(1)
    assert.equal(await source.settled(), undefined)
    assert.equal(failures.length, 1)
    assert.equal(source.retryAfter, 1)

    await server.fail(null)
    assert.equal(await source.reload(), true)
    const good = source.current()
    assert.notEqual(good, undefined)

    await server.fail(fault)
    const reloaded = source.reload()
    await end(3)
    assert.equal(await reloaded, false)
    assert.equal(source.current(), good)
    assert.equal(failures.length, 2)
    // The reason for the end of a server depends on the moment.
    if (!(fault in hangingFaults)) assert.equal(failures[1], failures[0])
    assert.equal(server.targetHits, 0)
  })
}

test('it looks again for an unknown key, and then not before the cooldown is over', async (t) => {
  const { server, source, pass } = await remoteKeys(t)
  source.open()
  await source.settled()
  await source.lookAgain()
  assert.equal(server.fetches, 2)
  assert.equal(source.lookAgain(), undefined)
  pass(29.999)
  assert.equal(source.lookAgain(), undefined)
  pass(0.001)
  await source.lookAgain()
  assert.equal(server.fetches, 3)
})

test('keys of a test authority are told of when they come, and other keys are not', async (t) => {
  const onTestKeys = t.mock.fn()
  const { source } = await remoteKeys(t, {}, { onTestKeys })
  source.open()
  await source.settled()
  assert.equal(onTestKeys.mock.callCount(), 0)
  keys = [one, { ...two, kid: TEST_KEY_NAME }]
  for (const _ of [1, 2]) await source.reload()
  assert.equal(onTestKeys.mock.callCount(), 1)
})

test('keys of a test authority serve where nothing is to be told of them', async (t) => {
  const { source, has } = await remoteKeys(t)
  keys = [{ ...one, kid: TEST_KEY_NAME }]
  source.open()
  await source.settled()
  assert.equal(has(TEST_KEY_NAME), true)
})

test('the cooldown holds after a look that failed, too', async (t) => {
  const { server, source, pass } = await remoteKeys(t)
  source.open()
  await source.settled()
  await server.fail('status 500')
  await source.lookAgain()
  assert.equal(server.fetches, 2)
  for (let second = 0; second < 29; second++) {
    pass(1)
    assert.equal(source.lookAgain(), undefined)
  }
  pass(1)
  await source.lookAgain()
  assert.equal(server.fetches, 3)
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

test('a look joins the fetch that is under way, and then costs no cooldown', async (t) => {
  const { server, source } = await remoteKeys(t)
  source.open()
  const joined = source.lookAgain()
  assert.notEqual(joined, undefined)
  assert.equal(source.lookAgain(), joined)
  await joined
  assert.equal(server.fetches, 1)
  await source.lookAgain()
  assert.equal(server.fetches, 2)
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

test('reload asks even within the cooldown and the wait', async (t) => {
  const { server, source } = await remoteKeys(t)
  source.open()
  await source.settled()
  await source.lookAgain()
  await server.fail('status 500')
  assert.equal(await source.reload(), false)
  assert.equal(await source.reload(), false)
  await server.fail(null)
  assert.equal(await source.reload(), true)
  assert.equal(server.fetches, 5)
})

test('closing ends a hanging fetch at once', async (t) => {
  const { server, source, failures } = await remoteKeys(t, { timeout: 60 })
  await server.fail('a dripping body')
  source.open()
  const waiting = source.settled()
  source.close()
  assert.equal(await waiting, undefined)
  assert.deepEqual(failures, [])
  assert.equal(source.lookAgain(), undefined)
})

test('keys given in code are there at once, and are not fetched', async () => {
  const set = new KeySet({ keys: [one] })
  const source = new StaticKeys(set)
  source.open()
  assert.equal(source.current(), set)
  assert.equal(await source.settled(), set)
  assert.equal(source.lookAgain(), undefined)
  assert.equal(await source.reload(), true)
  assert.equal(source.retryAfter, 1)
  source.close()
  assert.equal(source.current(), set)
})
