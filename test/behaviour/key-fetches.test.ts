import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../helpers/processes/until.ts'
import {
  badlySignedToken,
  freshToken,
  type KeyOutage,
  startKeyOutage,
  unknownKeyToken,
} from '../helpers/servers/key-outage.ts'
import { encode, partsOf } from '../helpers/tokens/forge.ts'
import { assertTokenRefused, KEY } from '../helpers/tokens/probe.ts'

/**
 * Asks with many tokens, several at a time, while the clock goes on. Counts the answers by status.
 */
async function flood(probe: KeyOutage, count: number, token: () => string, seconds = 0) {
  const statuses: Record<number, number> = {}
  const atOnce = 15
  for (let asked = 0; asked < count; asked += atOnce) {
    probe.pass((seconds * atOnce) / count)
    const batch = Array.from({ length: atOnce }, () => probe.ask(token()))
    for (const { statusCode } of await Promise.all(batch)) {
      statuses[statusCode] = (statuses[statusCode] ?? 0) + 1
    }
  }
  return statuses
}

test('500 cold requests at once cost one fetch', async (t) => {
  const probe = await startKeyOutage(t, { keysTimeout: 60 })
  const responses = await Promise.all(Array.from({ length: 500 }, () => probe.ask(freshToken())))
  assert.deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]))
  assert.equal(probe.server.fetches, 1)
})

test('500 requests at once that find the set too old cost one fetch', async (t) => {
  const probe = await startKeyOutage(t, { keysTimeout: 60 })
  await probe.ask(freshToken())
  probe.pass(5000)
  const responses = await Promise.all(Array.from({ length: 500 }, () => probe.ask(freshToken())))
  assert.deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]))
  assert.equal(probe.server.fetches, 2)
})

test('600 unknown keys at once cost one fetch', async (t) => {
  const probe = await startKeyOutage(t)
  await probe.ask(freshToken())
  assert.deepEqual(await flood(probe, 600, unknownKeyToken), { 401: 600 })
  assert.equal(probe.server.fetches, 2)
})

test('600 unknown keys in a minute and a half cost one fetch per cooldown', async (t) => {
  const probe = await startKeyOutage(t)
  await probe.ask(freshToken())
  assert.deepEqual(await flood(probe, 600, unknownKeyToken, 89), { 401: 600 })
  assert.equal(probe.server.fetches, 1 + 3)
  assert.equal(probe.server.mostAtOnce, 1)
})

test('600 unknown keys, server failing, set fresh: one fetch per cooldown', async (t) => {
  const probe = await startKeyOutage(t)
  await probe.ask(freshToken())
  await probe.server.fail('status 500')
  assert.deepEqual(await flood(probe, 600, unknownKeyToken, 89), { 401: 600 })
  assert.equal(probe.server.fetches, 1 + 3)
  assert.equal(probe.server.mostAtOnce, 1)
})

test('600 unknown keys, server failing, set stale: no fetch beyond the retries', async (t) => {
  // After the refresh has failed, the clock stands still. So its next retry is 10 seconds away.
  const probe = await startKeyOutage(t, { keysRetry: 10 })
  await probe.ask(freshToken())
  await probe.server.fail('status 500')
  probe.pass(1000)
  await probe.ask(freshToken())
  await until(() => probe.log.some((line) => line.includes('cannot be fetched')))
  assert.deepEqual(await flood(probe, 600, unknownKeyToken, 9.9), { 401: 600 })
  assert.equal(probe.server.fetches, 2)
})

test('600 unknown keys, server failing, set stale for over a minute: no fetch beyond the retries', async (t) => {
  const probe = await startKeyOutage(t, { keysRetry: 10 })
  await probe.ask(freshToken())
  await probe.server.fail('status 500')
  probe.pass(1000)
  assert.deepEqual(await flood(probe, 600, unknownKeyToken, 60), { 401: 600 })
  // One at once, then after 10 s, after 10 to 20 s more, after 15 to 30 s more, and so on. Unknown
  // keys change nothing in this.
  const refreshes = probe.server.fetches - 1
  assert.ok(refreshes >= 3 && refreshes <= 5, `${refreshes} fetches`)
})

test('an unknown key costs a further fetch after keysCooldown, and no earlier', async (t) => {
  const probe = await startKeyOutage(t, { keysCooldown: 7 })
  await probe.ask(freshToken())
  const fetches: number[] = []
  for (const seconds of [0, 6.9, 0.1, 6.9]) {
    probe.pass(seconds)
    assertTokenRefused(await probe.ask(unknownKeyToken()), 'unknown key')
    fetches.push(probe.server.fetches)
  }
  assert.deepEqual(fetches, [2, 2, 3, 3])
})

test('600 tokens without a kid that no key fits cost one fetch', async (t) => {
  const probe = await startKeyOutage(t)
  await probe.ask(freshToken())
  const header = encode({ alg: 'RS256', typ: 'at+jwt' })
  const token = () => [header, ...partsOf(freshToken()).slice(1)].join('.')
  assert.deepEqual(await flood(probe, 600, token), { 401: 600 })
  assert.equal(probe.server.fetches, 2)
})

/** A token with the kid of the good key, for an algorithm that the key does not serve. */
function unfitToken(): string {
  const header = encode({ alg: 'ES384', kid: KEY.kid, typ: 'at+jwt' })
  return [header, ...partsOf(freshToken()).slice(1)].join('.')
}

test('600 bad signatures and wrong algorithms cost no fetch', async (t) => {
  const probe = await startKeyOutage(t, { keysCooldown: 0 })
  await probe.ask(freshToken())
  let asked = 0
  const anyToken = () => (asked++ % 2 === 0 ? badlySignedToken : unfitToken)()
  assert.deepEqual(await flood(probe, 600, anyToken, 400), { 401: 600 })
  assert.equal(probe.server.fetches, 1)
})

test('while the server fails from the start, requests cost no fetch beyond the retries', async (t) => {
  const options = { keysRetry: 10, keysCooldown: 40 }
  const probe = await startKeyOutage(t, options, (server) => server.fail('status 500'))
  let asked = 0
  const kinds = [freshToken, unknownKeyToken, badlySignedToken]
  const anyToken = () => kinds[asked++ % kinds.length]?.() ?? ''
  assert.deepEqual(await flood(probe, 600, anyToken, 300), { 503: 600 })
  // At once, after 10 s, after 10 to 20 s more, and then every 20 to 40 s.
  const { fetches } = probe.server
  assert.ok(fetches >= 6 && fetches <= 17, `${fetches} fetches in 300 s`)
})

test('a cold request with an unknown key looks once more: its key may be newer than the first fetch', async (t) => {
  const probe = await startKeyOutage(t)
  assertTokenRefused(await probe.ask(unknownKeyToken()), 'unknown key')
  assert.equal(probe.server.fetches, 2)
})
