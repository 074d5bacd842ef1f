import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forge, forgeKey } from '../helpers/forge.ts'
import { freshToken, startKeyOutage } from '../helpers/key-outage.ts'
import { assertTokenRefused, goodClaims, KEY } from '../helpers/probe.ts'
import { until } from '../helpers/until.ts'

const next = forgeKey('ES256', 'next')
const impostor = forgeKey('ES256', KEY.kid)

const tokenOf = (key: typeof KEY, header: object = {}) =>
  forge(key, { header, payload: goodClaims({ exp: Math.floor(Date.now() / 1000) + 86_400 }) })

test('a token of a new key is accepted at once, by one fetch for all who bring it', async (t) => {
  const probe = await startKeyOutage(t)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  probe.publish(KEY.publicJwk, next.publicJwk)
  const responses = await Promise.all(Array.from({ length: 100 }, () => probe.ask(tokenOf(next))))
  assert.ok(responses.every(({ statusCode }) => statusCode === 200))
  assert.equal((await probe.ask(freshToken())).statusCode, 200, 'the old key is there still')
  assert.equal(probe.server.fetches, 2)
})

test('a removed key stops counting when the set arrives, for cached tokens too', async (t) => {
  const probe = await startKeyOutage(t)
  const cached = freshToken()
  assert.equal((await probe.ask(cached)).statusCode, 200)
  assert.equal((await probe.ask(cached)).statusCode, 200)
  probe.publish(next.publicJwk)
  assert.equal((await probe.ask(cached)).statusCode, 200, 'nobody knows yet')
  await probe.service.refreshKeys()
  assertTokenRefused(await probe.ask(cached), 'cached')
  assertTokenRefused(await probe.ask(freshToken()), 'not cached')
  assert.equal((await probe.ask(tokenOf(next))).statusCode, 200)
})

test('a replaced key stops counting too, and comes back with its tokens', async (t) => {
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

test('a set with nothing usable in it removes no key', async (t) => {
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

test('bad members do not spoil the good ones, and do not verify', async (t) => {
  const probe = await startKeyOutage(t)
  const weak = { ...KEY.publicJwk, kid: 'weak', kty: 'RSA' }
  probe.publish(null, weak, { ...next.publicJwk, use: 'enc' }, KEY.publicJwk, {
    kty: 'oct',
    k: 'a',
  })
  await probe.service.refreshKeys()
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  assertTokenRefused(await probe.ask(tokenOf(next)), 'for encryption')
})

test('a kid of two keys is 401, and so is no kid where two keys fit', async (t) => {
  const probe = await startKeyOutage(t)
  assert.equal((await probe.ask(tokenOf(KEY, { kid: undefined }))).statusCode, 200, 'one key fits')
  probe.publish(KEY.publicJwk, next.publicJwk)
  await probe.service.refreshKeys()
  assert.equal((await probe.ask(tokenOf(KEY))).statusCode, 200)
  assertTokenRefused(await probe.ask(tokenOf(KEY, { kid: undefined })), 'two keys fit')
  probe.publish(KEY.publicJwk, impostor.publicJwk)
  await probe.service.refreshKeys()
  assertTokenRefused(await probe.ask(tokenOf(KEY)), 'two keys of one name')
  assertTokenRefused(await probe.ask(tokenOf(impostor)), 'two keys of one name')
})

test('without a kid and without a key that fits, a newer set is asked for', async (t) => {
  const edwards = forgeKey('EdDSA', 'edwards')
  const probe = await startKeyOutage(t)
  assert.equal((await probe.ask(freshToken())).statusCode, 200)
  probe.publish(KEY.publicJwk, edwards.publicJwk)
  assert.equal((await probe.ask(tokenOf(edwards, { kid: undefined }))).statusCode, 200)
  assert.equal(probe.server.fetches, 2)
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
