import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { AuthOptions } from '../../lib/index.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'
import { type ForgeKey, forge, forgeKey } from '../helpers/tokens/forge.ts'
import {
  assertTokenRefused,
  goodClaims,
  goodToken,
  KEY,
  startProbe,
} from '../helpers/tokens/probe.ts'

const OTHER = forgeKey('ES256', 'other')
const NOW = 1_800_000_000

/** A JWKS endpoint. */
const publishing = (keys: () => ForgeKey[]) =>
  askedServer((_request, response) => {
    response.end(JSON.stringify({ keys: keys().map(({ publicJwk }) => publicJwk) }))
  })

/** A probe that counts verified tokens: mapClaims is asked once for each. */
async function startCounting(t: TestContext, options: AuthOptions = {}) {
  const verified = { count: 0 }
  const probe = await startProbe(t, {
    mapClaims: (claims) => {
      verified.count += 1
      return { sub: 'nobody', ...claims }
    },
    ...options,
  })
  return { ...probe, verified }
}

test('a token is verified once, and another token with the same claims is verified too', async (t) => {
  const { ask, verified } = await startCounting(t)
  const token = goodToken()
  for (let again = 0; again < 5; again++) assert.equal((await ask(token)).statusCode, 200)
  assert.equal(verified.count, 1)
  // ECDSA: the same claims get a new signature.
  assert.equal((await ask(goodToken())).statusCode, 200)
  assert.equal(verified.count, 2)
})

test('requests with one token that wait for its keys together map its claims once', async (t) => {
  const { url: publicKeysUrl } = await publishing(() => [KEY])
  const { ask, verified } = await startCounting(t, { publicKeysUrl })
  const token = goodToken()
  const responses = await Promise.all([1, 2, 3, 4, 5].map(() => ask(token)))
  for (const { statusCode } of responses) assert.equal(statusCode, 200)
  assert.equal(verified.count, 1)
})

test('a token that was seen does not help a token that differs in one letter', async (t) => {
  const { ask } = await startCounting(t)
  const token = goodToken()
  assert.equal((await ask(token)).statusCode, 200)
  for (let at = 0; at < token.length; at += 7) {
    const letter = token[at] === 'A' ? 'B' : 'A'
    const bent = token.slice(0, at) + letter + token.slice(at + 1)
    assertTokenRefused(await ask(bent), `letter ${at}`)
  }
  for (const bent of [token.slice(0, -1), `${token}A`, `${token} `, `${token}=`]) {
    assertTokenRefused(await ask(bent), bent.slice(-4))
  }
})

test('with tokenCacheSize 0 each request verifies its token anew', async (t) => {
  const { ask, verified } = await startCounting(t, { tokenCacheSize: 0 })
  const token = goodToken()
  for (let again = 0; again < 3; again++) assert.equal((await ask(token)).statusCode, 200)
  assert.equal(verified.count, 3)
})

test('no more than tokenCacheSize tokens are kept', async (t) => {
  const { ask, verified } = await startCounting(t, { tokenCacheSize: 2 })
  const tokens = [1, 2, 3, 4].map((n) => goodToken({ n }))
  for (const token of tokens) await ask(token)
  assert.equal(verified.count, 4)
  await ask(tokens.at(-1) ?? '')
  assert.equal(verified.count, 4)
  for (const token of tokens) assert.equal((await ask(token)).statusCode, 200)
  assert.equal(verified.count >= 6, true)
})

test('a token of any allowed length is verified once, in the smallest cache too', async (t) => {
  for (const tokenCacheSize of [10_000, 1]) {
    const { ask, verified } = await startCounting(t, { tokenCacheSize })
    const lists = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`tenant-${i}`, []]))
    const long = [goodToken({ padding: 'x'.repeat(11_500) }), goodToken({ resources: lists })]
    for (const [i, token] of long.entries()) {
      for (let again = 0; again < 3; again++) assert.equal((await ask(token)).statusCode, 200)
      assert.equal(verified.count, i + 1, `${token.length} characters`)
    }
  }
})

test('a refused token is not kept, and neither is one whose claims cannot be mapped', async (t) => {
  let asked = 0
  const { ask, verified } = await startCounting(t, {
    mapClaims: ({ sub }) => {
      asked += 1
      if (asked < 3) throw new Error('on purpose')
      return { sub: String(sub) }
    },
  })
  assert.equal(verified.count, 0)
  const token = goodToken()
  assertTokenRefused(await ask(token), 'first')
  assertTokenRefused(await ask(token), 'second')
  assert.equal((await ask(token)).statusCode, 200)
  assert.equal((await ask(token)).statusCode, 200)
  assert.equal(asked, 3)
})

test('a cached token is refused if the clock has gone back to before its start', async (t) => {
  const { ask } = await startCounting(t, { clockTolerance: 0 })
  t.mock.timers.enable({ apis: ['Date'], now: NOW * 1000 })
  const tokens = [goodToken({ nbf: NOW, iat: undefined }), goodToken({ iat: NOW })]
  for (const token of tokens) assert.equal((await ask(token)).statusCode, 200)
  t.mock.timers.setTime((NOW - 10) * 1000)
  for (const token of tokens) assertTokenRefused(await ask(token), 'too early')
})

test('the tenant is decided for each request, cached token or not', async (t) => {
  const { ask, verified } = await startCounting(t)
  const token = goodToken({ resources: { acme: ['menu:read'], globex: [] } })
  for (let again = 0; again < 2; again++) {
    assert.deepEqual((await ask(token, '/t/acme')).json().resources, ['menu:read'])
    assert.deepEqual((await ask(token, '/t/globex')).json().resources, [])
    assert.equal((await ask(token, '/t/initech')).statusCode, 403)
    assert.equal((await ask(token, '/query')).statusCode, 400)
    assert.equal((await ask(token, '/needs')).statusCode, 403)
  }
  assert.equal(verified.count, 1)
})

test('the cache is emptied when the key set changes, but not when the same keys come again', async (t) => {
  let keys = [KEY]
  const { url: publicKeysUrl } = await publishing(() => keys)
  const { ask, service, verified } = await startCounting(t, { publicKeysUrl })
  const token = goodToken()
  await ask(token)
  await service.refreshKeys()
  assert.equal((await ask(token)).statusCode, 200)
  assert.equal(verified.count, 1)

  keys = [OTHER]
  await service.refreshKeys()
  assertTokenRefused(await ask(token), 'its key is gone')
  assert.equal((await ask(forge(OTHER, { payload: goodClaims() }))).statusCode, 200)
  assert.equal(verified.count, 2)

  keys = [OTHER, KEY]
  await service.refreshKeys()
  assert.equal((await ask(token)).statusCode, 200)
  assert.equal(verified.count, 3)
  keys = [KEY, OTHER]
  await service.refreshKeys()
  assert.equal((await ask(token)).statusCode, 200)
  assert.equal(verified.count, 3)
})
