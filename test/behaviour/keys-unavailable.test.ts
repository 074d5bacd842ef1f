import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { errors } from '../../lib/index.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'
import { until } from '../helpers/processes/until.ts'
import { DOWN, publishKeys } from '../helpers/servers/published-keys.ts'
import { forge, forgeKey } from '../helpers/tokens/forge.ts'
import {
  assertTokenRefused,
  goodClaims,
  goodToken,
  KEY,
  startProbe,
} from '../helpers/tokens/probe.ts'

const NEW = forgeKey('ES256', 'new')
const NOW = 1_800_000_000
const TOKEN = goodToken()

test('a first request waits for the keys', async (t) => {
  const published = await publishKeys(t, KEY)
  const held: ServerResponse[] = []
  published.answer = (response) => void held.push(response)
  const { ask, service } = await startProbe(t, { publicKeysUrl: published.url })
  assert.equal(service.isReady(), false)
  const waiting = [ask(TOKEN), ask(goodToken({}, { kid: undefined })), ask(`${TOKEN}AA`)]
  const early = await ask('x.y')
  assertTokenRefused(early, 'the gate needs no key')
  await until(() => held.length === 1)
  published.answer = undefined
  held[0]?.end(JSON.stringify({ keys: [KEY.publicJwk] }))
  const statuses = (await Promise.all(waiting)).map((response) => response.statusCode)
  assert.deepEqual(statuses, [200, 200, 401])
  assert.equal(service.isReady(), true)
  assert.equal(published.fetches, 1)
})

test('without keys a good token is 503, and a token that the gate refuses is 401', async (t) => {
  const published = await publishKeys(t, KEY)
  published.answer = DOWN
  const { ask, app, service, handled } = await startProbe(t, { publicKeysUrl: published.url })
  const response = await ask(TOKEN)
  assert.equal(response.statusCode, 503)
  assert.match(String(response.headers['retry-after']), /^[1-9]\d*$/)
  assert.equal(response.headers['www-authenticate'], undefined)
  assert.equal(response.json().code, 'ERR_AUTH_KEYS_UNAVAILABLE')
  assert.equal(response.json().message, 'Tokens cannot be verified now')
  for (const bad of [
    'x',
    `${TOKEN}=`,
    goodToken({}, { alg: 'none' }),
    goodToken({}, { crit: [] }),
  ]) {
    assertTokenRefused(await ask(bad), bad.slice(0, 40))
  }
  assert.equal((await app.inject('/me')).json().code, 'ERR_AUTH_TOKEN_MISSING')
  assert.equal(service.isReady(), false)
  assert.equal(handled.count, 0)
})

test('refreshKeys gets new keys, or rejects if there are none', async (t) => {
  const published = await publishKeys(t, KEY)
  const { ask, service } = await startProbe(t, { publicKeysUrl: published.url })
  await service.refreshKeys()
  assert.equal((await ask(TOKEN)).statusCode, 200)
  published.answer = DOWN
  await assert.rejects(service.refreshKeys(), errors.ERR_AUTH_KEYS_UNAVAILABLE)
  assert.equal((await ask(TOKEN)).statusCode, 200)
})

test('with keys given in code refreshKeys finds them there', async (t) => {
  const { ask, service } = await startProbe(t)
  await service.refreshKeys()
  assert.equal(service.isReady(), true)
  assertTokenRefused(await ask(forge(NEW, { payload: goodClaims() })), 'an unknown key')
})

test('an unknown kid is looked for once, and is 401 if it is not found', async (t) => {
  const published = await publishKeys(t, KEY)
  const { ask } = await startProbe(t, { publicKeysUrl: published.url })
  assert.equal((await ask(TOKEN)).statusCode, 200)
  const token = forge(NEW, { payload: goodClaims() })
  assertTokenRefused(await ask(token), 'looked for')
  assert.equal(published.fetches, 2)
  assertTokenRefused(await ask(token), 'within the cooldown')
  assert.equal(published.fetches, 2)
})

test('an unknown kid is 401 even if looking for it failed', async (t) => {
  const published = await publishKeys(t, KEY)
  const { ask } = await startProbe(t, { publicKeysUrl: published.url })
  assert.equal((await ask(TOKEN)).statusCode, 200)
  published.answer = DOWN
  assertTokenRefused(await ask(forge(NEW, { payload: goodClaims() })), 'looked for in vain')
  assert.equal(published.fetches, 2)
  assert.equal((await ask(TOKEN)).statusCode, 200)
})

test('a token of a new key is accepted as soon as the key is published', async (t) => {
  const published = await publishKeys(t, KEY)
  const { ask } = await startProbe(t, { publicKeysUrl: published.url })
  assert.equal((await ask(TOKEN)).statusCode, 200)
  published.keys = [NEW]
  assert.equal((await ask(forge(NEW, { payload: goodClaims() }))).statusCode, 200)
  assertTokenRefused(await ask(TOKEN), 'of the key that is gone')
})

test('a cold request whose key the first set lacks looks once more', async (t) => {
  const published = await publishKeys(t, KEY)
  const first = (response: ServerResponse) => {
    published.answer = undefined
    published.keys = [NEW]
    response.end(JSON.stringify({ keys: [KEY.publicJwk] }))
  }
  published.answer = first
  const { ask } = await startProbe(t, { publicKeysUrl: published.url })
  assert.equal((await ask(forge(NEW, { payload: goodClaims() }))).statusCode, 200)
  assert.equal(published.fetches, 2)
})

test('a request waits for the fetch under way, then for one of its own, and no longer', async (t) => {
  const published = await publishKeys(t, KEY)
  const { ask } = await startProbe(t, { publicKeysUrl: published.url, keysCooldown: 0 })
  assert.equal((await ask(TOKEN)).statusCode, 200)
  const tokens = ['a', 'b'].map((kid) => goodToken({}, { kid }))
  const responses = await Promise.all(tokens.map((token) => ask(token)))
  for (const response of responses) assertTokenRefused(response, 'unknown')
  assert.ok(published.fetches <= 5, String(published.fetches))
})

test('if the keys become too old while a kid is looked for, the answer is 503', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
  ageByDate(t)
  const published = await publishKeys(t, KEY)
  const options = { publicKeysUrl: published.url, keysMaxAge: 10, keysMaxStale: 10 }
  const { ask } = await startProbe(t, options)
  assert.equal((await ask(goodToken())).statusCode, 200)
  published.answer = (response) => {
    t.mock.timers.setTime((NOW + 60) * 1000)
    response.destroy()
  }
  const response = await ask(forge(NEW, { payload: goodClaims() }))
  assert.equal(response.statusCode, 503)
  assert.equal(response.json().code, 'ERR_AUTH_KEYS_UNAVAILABLE')
})

test('no keys are fetched for a bad signature', async (t) => {
  const published = await publishKeys(t, KEY)
  const { ask } = await startProbe(t, { publicKeysUrl: published.url, keysCooldown: 0 })
  assert.equal((await ask(TOKEN)).statusCode, 200)
  const stranger = forgeKey('ES256', KEY.kid)
  for (let n = 0; n < 50; n++) {
    assertTokenRefused(await ask(forge(stranger, { payload: goodClaims({ n }) })), 'a stranger')
    assertTokenRefused(await ask(goodToken({}, { alg: 'ES384' })), 'another algorithm')
  }
  assert.equal(published.fetches, 1)
})
