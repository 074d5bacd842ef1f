import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../helpers/processes/until.ts'
import { freshToken, startKeyOutage } from '../helpers/servers/key-outage.ts'
import { forge, forgeKey } from '../helpers/tokens/forge.ts'
import { assertTokenRefused, goodClaims, KEY } from '../helpers/tokens/probe.ts'

const next = forgeKey('ES256', 'next')
const impostor = forgeKey('ES256', KEY.kid)

/** Seconds. Only a request that waits for a refresh would notice them. */
const LONG = { keysTimeout: 60 }

const tokenOf = (key: typeof KEY, header: object = {}) =>
  forge(key, { header, payload: goodClaims({ exp: Math.floor(Date.now() / 1000) + 86_400 }) })

test('a token of a new key is accepted at once, with one fetch for all requests that bring it', async (t) => {
  const probe = await startKeyOutage(t)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  probe.publish(KEY.publicJwk, next.publicJwk)
  const responses = await Promise.all(Array.from({ length: 100 }, () => probe.ask(tokenOf(next))))
  assert.deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]))
  assert.equal((await probe.ask(freshToken())).statusCode, 200, 'the old key is there still')
  assert.equal(probe.server.fetches, 2)
})

test('a removed key stops counting when the set arrives, for cached tokens too', async (t) => {
  const probe = await startKeyOutage(t)
  const cached = freshToken()
  assert.equal((await probe.ask(cached)).statusCode, 200)
  assert.equal((await probe.ask(cached)).statusCode, 200)
  probe.publish(next.publicJwk)
  assert.equal((await probe.ask(cached)).statusCode, 200, 'the new set has not come yet')
  await probe.service.refreshKeys()
  assertTokenRefused(await probe.ask(cached), 'cached')
  assertTokenRefused(await probe.ask(freshToken()), 'not cached')
  assert.equal((await probe.ask(tokenOf(next))).statusCode, 200)
})

test('a replaced key stops counting too, and counts again when it comes back', async (t) => {
  const probe = await startKeyOutage(t)
  const cached = freshToken()
  assert.equal((await probe.ask(cached)).statusCode, 200)
  probe.publish(impostor.publicJwk)
  await probe.service.refreshKeys()
  assertTokenRefused(await probe.ask(cached), 'cached')
  assert.equal((await probe.ask(tokenOf(impostor))).statusCode, 200)
  assertTokenRefused(await probe.ask(cached), 'still')
  probe.publish(KEY.publicJwk)
  await probe.service.refreshKeys()
  assert.equal((await probe.ask(cached)).statusCode, 200)
})

test('a removed key stops counting at the refresh in the background, without a request', async (t) => {
  const probe = await startKeyOutage(t, { keysMaxAge: 0.1 })
  t.mock.timers.reset()
  const cached = freshToken()
  assert.equal((await probe.ask(cached)).statusCode, 200)
  probe.publish(next.publicJwk)
  const { fetches } = probe.server
  await until(() => probe.server.fetches >= fetches + 2)
  assertTokenRefused(await probe.ask(cached), 'cached')
})

test('a set without a usable key removes no key', async (t) => {
  const probe = await startKeyOutage(t)
  const cached = freshToken()
  assert.equal((await probe.ask(cached)).statusCode, 200)
  for (const keys of [[], [{ ...KEY.publicJwk, use: 'enc' }], [null, 'a', {}]]) {
    probe.publish(...keys)
    await assert.rejects(probe.service.refreshKeys(), { code: 'ERR_AUTH_KEYS_UNAVAILABLE' })
    assert.equal((await probe.ask(cached)).statusCode, 200)
    assert.equal((await probe.ask(freshToken())).statusCode, 200)
  }
})

test('without a kid and without a key that fits, a newer set is fetched', async (t) => {
  const edwards = forgeKey('EdDSA', 'edwards')
  const probe = await startKeyOutage(t)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  probe.publish(KEY.publicJwk, edwards.publicJwk)
  assert.equal((await probe.ask(tokenOf(edwards, { kid: undefined }))).statusCode, 200)
  assert.equal(probe.server.fetches, 2)
})

const { kid: _, ...nameless } = KEY.publicJwk
const { kid: __, ...namelessNext } = next.publicJwk
const namelessToken = (key: typeof KEY) => tokenOf(key, { kid: undefined })

test('a server without kids may rotate: one fetch serves all tokens of the new key', async (t) => {
  const probe = await startKeyOutage(t)
  probe.publish(nameless)
  const cached = namelessToken(KEY)
  assert.equal((await probe.ask(cached)).statusCode, 200)
  const { fetches } = probe.server
  probe.publish(namelessNext)
  const tokens = Array.from({ length: 50 }, () => namelessToken(next))
  const old = probe.ask(cached)
  const responses = await Promise.all(tokens.map((token) => probe.ask(token)))
  assert.deepEqual(new Set(responses.map(({ statusCode }) => statusCode)), new Set([200]))
  assert.equal((await old).statusCode, 200, 'the new set had not come yet')
  assert.equal(probe.server.fetches, fetches + 1)
  assertTokenRefused(await probe.ask(cached), 'cached, and its key is gone')
  for (const token of tokens) assert.equal((await probe.ask(token)).statusCode, 200)
  assert.equal(probe.server.fetches, fetches + 1)
})

test('forged tokens without a kid cost one fetch per cooldown, and good ones do not wait', async (t) => {
  const probe = await startKeyOutage(t, LONG)
  probe.publish(nameless)
  assert.equal((await probe.ask(namelessToken(KEY))).statusCode, 200)
  const { fetches } = probe.server
  for (let second = 0; second < 60; second++) {
    const forged = Array.from({ length: 10 }, () => probe.ask(namelessToken(impostor)))
    for (const response of await Promise.all(forged)) assertTokenRefused(response, 'forged')
    probe.pass(1)
  }
  assert.equal(probe.server.fetches, fetches + 2)
  probe.pass(30)
  await probe.server.fail('no answer')
  const waiting = probe.ask(namelessToken(impostor))
  assert.equal((await probe.ask(namelessToken(KEY))).statusCode, 200)
  await probe.server.close()
  assertTokenRefused(await waiting, 'the look has failed')
})

test('no keys are fetched for a forged token with a kid, nor for a bad claim without one', async (t) => {
  const probe = await startKeyOutage(t)
  probe.publish(nameless)
  assert.equal((await probe.ask(namelessToken(KEY))).statusCode, 200)
  const { fetches } = probe.server
  const payload = goodClaims({ iss: 'https://other.test' })
  assertTokenRefused(await probe.ask(forge(KEY, { header: { kid: undefined }, payload })), 'issuer')
  probe.publish(KEY.publicJwk)
  await probe.service.refreshKeys()
  assertTokenRefused(await probe.ask(tokenOf(impostor)), 'forged, with a kid')
  assert.equal(probe.server.fetches, fetches + 1)
})

test('a token without a kid is checked again after a refresh that may be older than its key', async (t) => {
  const probe = await startKeyOutage(t)
  probe.publish(nameless)
  assert.equal((await probe.ask(namelessToken(KEY))).statusCode, 200)
  const { fetches } = probe.server
  probe.pass(500)
  probe.publishAfterNext(namelessNext)
  const early = probe.ask(namelessToken(KEY))
  const late = probe.ask(namelessToken(next))
  assert.equal((await early).statusCode, 200)
  assert.equal((await late).statusCode, 200)
  assert.equal(probe.server.fetches, fetches + 2)
})

test('a key that arrives while a refresh is under way is found by the next fetch', async (t) => {
  const probe = await startKeyOutage(t)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  probe.pass(500)
  probe.publishAfterNext(KEY.publicJwk, next.publicJwk)
  const early = probe.ask(freshToken())
  const late = probe.ask(tokenOf(next))
  assert.equal((await early).statusCode, 200)
  assert.equal((await late).statusCode, 200)
  assert.equal(probe.server.fetches, 3)
})

test('a key that arrives after a cold start has asked is found by the next fetch', async (t) => {
  const probe = await startKeyOutage(t, {}, (server) => server.fail('status 500'))
  assert.equal((await probe.ask(freshToken())).statusCode, 503)
  await probe.server.fail(null)
  probe.publishAfterNext(KEY.publicJwk, next.publicJwk)
  const { fetches } = probe.server
  probe.pass(1)
  const early = probe.ask(freshToken())
  const late = probe.ask(tokenOf(next))
  assert.equal((await early).statusCode, 200)
  assert.equal((await late).statusCode, 200)
  assert.equal(probe.server.fetches, fetches + 2)
})
