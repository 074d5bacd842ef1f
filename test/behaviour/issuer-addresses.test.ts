import assert from 'node:assert/strict'
import dns from 'node:dns'
import { type TestContext, test } from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'
import { nameServer } from '../helpers/servers/name-server.ts'
import { encode } from '../helpers/tokens/forge.ts'

// A function in `issuers` returns addresses that customers have chosen.

const authority = await createTestAuthority({ issuer: 'https://acme.test', audience: 'lunch' })

async function guarded(t: TestContext, options: AuthOptions) {
  const log = logLines()
  const app = bareApp(t, { logger: log.logger })
  await app.register(tenantAuth, { audience: 'lunch', ...options })
  app.get('/me', async () => 'ok')
  await app.ready()
  return { app, log }
}

const issuersAt = (publicKeysUrl: string) => () => ({ tenants: ['acme'], publicKeysUrl })

for (const [publicKeysUrl, shown] of [
  ['http://idp.customer.test/keys', 'http://idp.customer.test/keys'],
  ['http://8.8.8.8/keys', 'http://8.8.8.8/keys'],
  ['http://10.0.0.7/keys', 'http://10.0.0.7/keys'],
  ['HTTP://idp.customer.test/keys', 'http://idp.customer.test/keys'],
]) {
  for (const allowPrivateIssuers of [false, true]) {
    const mode = allowPrivateIssuers ? 'private ones allowed' : 'public ones only'
    test(`${publicKeysUrl} brings no keys, and one line says why, ${mode}`, async (t) => {
      const asked = await nameServer(t, () => null)
      const threads = t.mock.method(dns, 'lookup')
      const issuers = issuersAt(publicKeysUrl ?? '')
      const { app, log } = await guarded(t, { issuers, allowPrivateIssuers })
      const response = await app.inject({ url: '/me', headers: await authority.headers() })
      assertRefused(response, 'ERR_AUTH_KEYS_UNAVAILABLE')
      const lines = log.lines('keys cannot be fetched')
      const found = lines.map(({ reason, url }) => [reason, url])
      assert.deepEqual(found, [['the address is no https URL that can be used', shown]])
      assert.deepEqual([asked.length, threads.mock.callCount()], [0, 0])
    })
  }
}

for (const host of ['127.0.0.1', 'localhost']) {
  test(`plain http on ${host} brings keys where private addresses are allowed`, async (t) => {
    const server = await KeyServer.start(() => authority.publicKeys)
    t.after(() => server.close())
    const issuers = issuersAt(server.url.replace('127.0.0.1', host))
    const { app } = await guarded(t, { issuers, allowPrivateIssuers: true })
    const response = await app.inject({ url: '/me', headers: await authority.headers() })
    assert.equal(response.statusCode, 200)
  })
}

test('plain http of the configuration is that of the operator, and is asked', async (t) => {
  const { app, log } = await guarded(t, {
    issuers: [
      { issuer: authority.issuer, tenants: '*', publicKeysUrl: 'http://127.0.0.1.nip.test/keys' },
    ],
    keysTimeout: 1,
  })
  const response = await app.inject({ url: '/me', headers: await authority.headers() })
  assertRefused(response, 'ERR_AUTH_KEYS_UNAVAILABLE')
  assert.doesNotMatch(String(log.lines('keys cannot be fetched')[0]?.['reason']), /https/)
})

for (const allowPrivateIssuers of [false, true]) {
  const mode = allowPrivateIssuers ? 'private ones allowed' : 'public ones only'
  test(`names whose servers are silent take no thread, and stop no other name, ${mode}`, async (t) => {
    const looked: unknown[] = []
    const { lookup } = dns
    t.mock.method(dns, 'lookup', (...args: unknown[]) => {
      looked.push(args[0])
      Reflect.apply(lookup, dns, args)
    })
    const asked = await nameServer(t, (name) => (name === 'good.test' ? ['10.0.0.7'] : undefined))
    const issuers = (iss: string) => {
      const host = iss === authority.issuer ? 'good.test' : new URL(iss).hostname
      return { tenants: ['acme'], publicKeysUrl: `https://${host}:1/keys` }
    }
    const { app, log } = await guarded(t, { issuers, allowPrivateIssuers, keysTimeout: 2 })
    const silent = Array.from({ length: 8 }, (_, i) => {
      const claims = { iss: `https://${i}.silent.test`, aud: 'lunch', exp: 2 ** 33, sub: 'eve' }
      const parts = [{ alg: 'ES256', kid: 'a' }, claims].map(encode)
      const authorization = `Bearer ${parts.join('.')}.${'A'.repeat(86)}`
      return app.inject({ url: '/me', headers: { authorization } })
    })
    await until(() => asked.length >= 8)
    if (!allowPrivateIssuers) {
      await app.inject({ url: '/me', headers: await authority.headers() })
      const [line] = log.lines('keys cannot be fetched')
      assert.equal(line?.['reason'], 'the address is not public')
    }
    const found = looked.filter((name) => String(name).endsWith('.test'))
    assert.deepEqual(found, [])
    for (const response of await Promise.all(silent)) {
      assertRefused(response, 'ERR_AUTH_KEYS_UNAVAILABLE')
    }
    const late = log.lines('keys cannot be fetched').filter(({ url }) => /silent/.test(String(url)))
    for (const { reason } of late) assert.equal(reason, 'no answer in time')
  })
}

test('two realms of one host have two names in stats() and in the log', async (t) => {
  const realms = ['https://idp.test/realms/acme', 'https://idp.test/realms/other']
  const { app } = await guarded(t, { issuers: issuersAt('http://idp.test/keys') })
  for (const iss of realms) {
    const other = await createTestAuthority({ issuer: iss, audience: 'lunch' })
    await app.inject({ url: '/me', headers: await other.headers() })
  }
  const found = app.authService.stats().documents.map(({ name }) => name)
  assert.deepEqual(found, ['idp.test/realms/acme', 'idp.test/realms/other'])
})

const listed = (publicKeysUrl: string, tenants: '*' | string[] = ['acme']) => ({
  issuers: [{ issuer: 'https://acme.test', tenants, publicKeysUrl }],
})

test('silent name servers of customers in a list hold one thread of the process at most', async (t) => {
  const asked = await nameServer(t, () => undefined)
  const held: unknown[] = []
  t.mock.method(dns, 'lookup', (name: unknown) => void held.push(name))
  const issuers = [1, 2, 3].map((i) => ({
    issuer: `https://${i}.test`,
    tenants: [`t${i}`],
    publicKeysUrl: `https://idp.customer${i}.test/keys`,
  }))
  const { app } = await guarded(t, { issuers, keysTimeout: 20 })
  await until(() => held.length > 0, 15_000)
  await app.close()
  assert.deepEqual([new Set(asked).size, held.length], [3, 1])
})

test('a host that a proxy knows is not looked up before it', async (t) => {
  const asked = await nameServer(t, () => undefined)
  const server = await KeyServer.start(() => authority.publicKeys)
  t.after(() => server.close())
  const key = Symbol.for('undici.globalDispatcher.1')
  await fetch(server.url)
  const before = Reflect.get(globalThis, key)
  t.after(() => Reflect.set(globalThis, key, before))
  // As that of a proxy does, it connects elsewhere.
  class OwnDispatcher extends before.constructor {
    dispatch(options: object, handler: unknown): unknown {
      return Reflect.apply(before.dispatch, this, [{ ...options, origin }, handler])
    }
  }
  const { origin } = new URL(server.url)
  Reflect.set(globalThis, key, new OwnDispatcher())
  const { app } = await guarded(t, listed('https://idp.customer.test/keys'))
  const response = await app.inject({ url: '/me', headers: await authority.headers() })
  assert.deepEqual([response.statusCode, asked], [200, []])
})

for (const [whose, tenants, names] of [
  ['a customer', ['acme'], ['idp.customer.test']],
  ['the operator', '*', []],
] as const) {
  test(`a host of ${whose} that only the machine knows brings keys of a list`, async (t) => {
    const server = await KeyServer.start(() => authority.publicKeys)
    t.after(() => server.close())
    const asked = await nameServer(t, () => null)
    t.mock.method(dns, 'lookup', (...args: unknown[]) => {
      const done = args.at(-1)
      assert.ok(typeof done === 'function', 'a look-up without a callback')
      done(null, [{ address: '127.0.0.1', family: 4 }])
    })
    const url = server.url.replace('127.0.0.1', 'idp.customer.test')
    const { app } = await guarded(t, listed(url, tenants === '*' ? '*' : [...tenants]))
    const response = await app.inject({ url: '/me', headers: await authority.headers() })
    assert.equal(response.statusCode, 200)
    assert.deepEqual(asked, names)
  })
}
