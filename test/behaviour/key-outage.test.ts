import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { LightMyRequestResponse } from 'fastify'
import { neverAnswering } from '../helpers/app/never-answering.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'
import { hangingFaults } from '../helpers/servers/key-faults.ts'
import {
  badlySignedToken,
  freshToken,
  type KeyOutage,
  startKeyOutage,
  unknownKeyToken,
} from '../helpers/servers/key-outage.ts'
import { type FaultName, faultNames } from '../helpers/servers/key-server.ts'
import { assertTokenRefused, goodToken, KEY, startProbe } from '../helpers/tokens/probe.ts'

/** Seconds. Only a request that waits for a refresh would notice them. */
const LONG = { keysTimeout: 60 }

/** A fetch that hangs ends with its server, so the test needs no limit of its own. */
async function endHanging(fault: FaultName, probe: KeyOutage, fetches: number): Promise<void> {
  if (!(fault in hangingFaults)) return
  await until(() => probe.server.fetches >= fetches)
  await probe.server.close()
}

function assertUnavailable(response: LightMyRequestResponse): void {
  assertRefused(response, 'ERR_AUTH_KEYS_UNAVAILABLE')
}

/** Tokens that are refused before a key is needed. */
const REFUSED_EARLY: readonly [what: string, token: string][] = [
  ['one part', 'x'],
  ['text in three parts', 'no.token.'],
  ['a padded token', `${goodToken()}=`],
  ['alg none', goodToken({}, { alg: 'none' })],
  ['an empty crit', goodToken({}, { crit: [] })],
  ['another issuer', goodToken({ iss: 'https://other.test' })],
  ['another audience', goodToken({ aud: 'other' })],
  ['an end in the past', goodToken({ exp: 1 })],
  ['a beginning in the future', goodToken({ nbf: 1e11 })],
  ['an issue in the future', goodToken({ iat: 1e11 })],
  ['a binding to a sender', goodToken({ cnf: { jkt: 'x' } })],
]

test('a cold request waits for the keys', async (t) => {
  const held: ServerResponse[] = []
  const server = await askedServer((_request, response) => void held.push(response))
  const { ask, service } = await startProbe(t, { publicKeysUrl: server.url })
  assert.equal(service.isReady(), false)
  const tokens = [goodToken(), goodToken({}, { kid: undefined }), `${goodToken()}AA`]
  const waiting = tokens.map((token) => ask(token))
  assertTokenRefused(await ask('x.y'), 'the gate needs no key')
  await until(() => held.length === 1)
  held[0]?.end(JSON.stringify({ keys: [KEY.publicJwk] }))
  const statuses = (await Promise.all(waiting)).map((response) => response.statusCode)
  assert.deepEqual(statuses, [200, 200, 401])
  assert.equal(service.isReady(), true)
  assert.equal(server.count, 1)
})

for (const fault of faultNames) {
  test(`cold, ${fault}: a good token is 503, and a text that is no token is 401`, async (t) => {
    const options = { ...LONG, keysRetry: 60 }
    const probe = await startKeyOutage(t, options, (server) => server.fail(fault))
    assert.equal(probe.service.isReady(), false)
    const asked = Array.from({ length: 5 }, () => probe.ask(freshToken()))
    await endHanging(fault, probe, 1)
    for (const response of await Promise.all(asked)) assertUnavailable(response)
    assertUnavailable(await probe.ask(unknownKeyToken()))
    assertUnavailable(await probe.ask(badlySignedToken()))
    for (const [what, token] of REFUSED_EARLY) assertTokenRefused(await probe.ask(token), what)
    assertRefused(await probe.app.inject('/me'), 'ERR_AUTH_TOKEN_MISSING')
    assert.equal(probe.handled.count, 0)
    assert.ok(probe.server.fetches <= 1, 'no request waits for more than one fetch')
    assert.equal(probe.server.targetHits, 0)
    assert.equal(probe.service.isReady(), false)
  })

  test(`fresh, ${fault}: no request notices, and nothing is fetched`, async (t) => {
    const probe = await startKeyOutage(t, LONG)
    const known = freshToken()
    assert.equal((await probe.ask(known)).statusCode, 200)
    await probe.server.fail(fault)
    for (let i = 0; i < 5; i++) {
      probe.pass(90)
      assert.equal((await probe.ask(known)).statusCode, 200)
      assert.equal((await probe.ask(freshToken())).statusCode, 200)
      assertTokenRefused(await probe.ask(badlySignedToken()), 'forged')
    }
    assert.equal(probe.server.fetches, 1)
    const unknown = probe.ask(unknownKeyToken())
    await endHanging(fault, probe, 2)
    assertTokenRefused(await unknown, 'unknown key')
    assert.equal((await probe.ask(freshToken())).statusCode, 200)
  })

  test(`stale, ${fault}: no request notices or waits, until the set is too old`, async (t) => {
    const probe = await startKeyOutage(t, LONG)
    const known = freshToken()
    assert.equal((await probe.ask(known)).statusCode, 200)
    await probe.server.fail(fault)
    for (const seconds of [601, 1000, 1000, 1000, 598]) {
      probe.pass(seconds)
      assert.equal((await probe.ask(known)).statusCode, 200)
      assert.equal((await probe.ask(freshToken())).statusCode, 200)
      assertTokenRefused(await probe.ask(badlySignedToken()), 'forged')
      if (fault !== 'refused') await until(() => probe.server.fetches >= 2)
    }
    assert.equal(probe.service.isReady(), true)
    probe.pass(1)
    assert.equal(probe.service.isReady(), false)
  })
}

test('beyond its stale time the set does not serve, for cached tokens either', async (t) => {
  const probe = await startKeyOutage(t)
  const known = freshToken()
  assert.equal((await probe.ask(known)).statusCode, 200)
  await probe.server.fail('status 500')
  probe.pass(4199)
  assert.equal((await probe.ask(known)).statusCode, 200)
  probe.pass(1)
  assertUnavailable(await probe.ask(known))
  assertUnavailable(await probe.ask(freshToken()))
  assertTokenRefused(await probe.ask('no.token.'), 'malformed')
  await probe.server.fail(null)
  probe.pass(30)
  assert.equal((await probe.ask(known)).statusCode, 200)
})

test('if the keys become too old while a kid is looked for, the answer is 503', async (t) => {
  const probe = await startKeyOutage(t, { ...LONG, keysMaxAge: 10, keysMaxStale: 10 })
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  await probe.server.fail('no answer')
  const waiting = probe.ask(unknownKeyToken())
  await until(() => probe.server.fetches === 2)
  probe.pass(60)
  await probe.server.close()
  assertUnavailable(await waiting)
})

test('with keysMaxStale 0, a set that is not fresh does not serve', async (t) => {
  const probe = await startKeyOutage(t, { keysMaxStale: 0 })
  const known = freshToken()
  assert.equal((await probe.ask(known)).statusCode, 200)
  await probe.server.fail('status 500')
  probe.pass(599)
  assert.equal((await probe.ask(known)).statusCode, 200)
  probe.pass(1)
  assertUnavailable(await probe.ask(known))
})

test('while a refresh hangs, only a token of an unknown key waits for it', async (t) => {
  const probe = await startKeyOutage(t, LONG)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  await probe.server.fail('a dripping body')
  probe.pass(1000)
  let waiting = true
  const unknown = probe.ask(unknownKeyToken()).finally(() => {
    waiting = false
  })
  for (let i = 0; i < 20; i++) assert.equal((await probe.ask(freshToken())).statusCode, 200)
  assert.equal(waiting, true)
  await endHanging('a dripping body', probe, 2)
  assertTokenRefused(await unknown, 'unknown key')
})

test('cold, keysTimeout ends the wait with 503, at any stage of the answer', async (t) => {
  for (const fault of ['no answer', 'no body', 'a body that stops', 'a dripping body'] as const) {
    await t.test(fault, async (t) => {
      const probe = await startKeyOutage(t, { keysTimeout: 0.3 }, (server) => server.fail(fault))
      assertUnavailable(await probe.ask(freshToken()))
      await until(() => probe.log.some((line) => line.includes('answer in time')))
    })
  }
})

test('keysTimeout ends a fetch that hangs, and no earlier', async (t) => {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const { ask: hang, isAsked } = neverAnswering()
  const server = await askedServer(() => void hang())
  const probe = await startProbe(t, { publicKeysUrl: server.url, keysTimeout: 7 })
  const asked = probe.ask(freshToken())
  await isAsked
  const failure = () => probe.service.stats().documents[0]?.failure
  t.mock.timers.tick(6900)
  await setImmediate()
  assert.equal(failure(), null)
  t.mock.timers.tick(100)
  assertUnavailable(await asked)
  assert.equal(failure(), 'no answer in time')
})

test('Retry-After says when the next attempt is', async (t) => {
  const options = { keysRetry: 7.2, keysCooldown: 30 }
  const probe = await startKeyOutage(t, options, (server) => server.fail('status 503'))
  const retryAfter = async () => (await probe.ask(freshToken())).headers['retry-after']
  assert.equal(await retryAfter(), '8')
  probe.pass(3.1)
  assert.equal(await retryAfter(), '5')
  probe.pass(4)
  assert.equal(await retryAfter(), '1')
  await probe.server.fail(null)
  probe.pass(0.1)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
})

test('the waits between attempts grow up to keysCooldown, and no further', async (t) => {
  const options = { keysRetry: 40, keysCooldown: 70 }
  const probe = await startKeyOutage(t, options, (server) => server.fail('status 503'))
  const waits: number[] = []
  for (let failures = 0; failures < 4; failures++) {
    waits.push(Number((await probe.ask(freshToken())).headers['retry-after']))
    probe.pass(70)
  }
  assert.equal(probe.server.fetches, 4)
  assert.equal(waits[0], 40)
  assert.ok(Math.max(...waits) <= 70, `${waits}`)
})

test('the log reports an outage in constant words, once per attempt', async (t) => {
  const probe = await startKeyOutage(t, {}, (server) => server.fail('a page'))
  for (let i = 0; i < 5; i++) assertUnavailable(await probe.ask(freshToken()))
  const logged = probe.log.filter((line) => line.includes('keys cannot be fetched'))
  assert.equal(logged.length, 1)
  const { reason, url } = JSON.parse(logged[0] ?? '')
  assert.deepEqual([reason, url], ['the answer is not JSON', probe.server.url])
  assert.doesNotMatch(probe.log.join(), /wireless/)
})

test('the log says what the server answered in place of keys', async (t) => {
  const probe = await startKeyOutage(t)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  probe.publish({ kty: 'oct', k: 'c2VjcmV0' }, { ...KEY.publicJwk, use: 'enc' })
  await assert.rejects(probe.service.refreshKeys(), { code: 'ERR_AUTH_KEYS_UNAVAILABLE' })
  const reason = 'no usable key: 2 members: 1 symmetric, 1 for encryption'
  assert.equal(probe.log.filter((line) => line.includes(`"reason":"${reason}"`)).length, 1)
})
