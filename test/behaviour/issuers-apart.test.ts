import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { createTestAuthority, type TestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { bareApp } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'
import { type FaultName, KeyServer } from '../helpers/servers/key-server.ts'
import {
  principalOf,
  SILENT,
  standaloneAuthenticator,
} from '../helpers/tokens/standalone-authenticator.ts'

const [a, b] = [
  await createTestAuthority({ issuer: 'https://a.test', audience: 'lunch' }),
  await createTestAuthority({ issuer: 'https://b.test', audience: 'lunch' }),
]

/** Two issuers, each with a key server of its own. */
async function start(t: TestContext, pins: { a?: string[]; b?: string[] } = {}) {
  const servers = {
    a: await KeyServer.start(() => a.publicKeys),
    b: await KeyServer.start(() => b.publicKeys),
  }
  t.after(() => Promise.all([servers.a.close(), servers.b.close()]))
  const issuers = [
    { issuer: a.issuer, tenants: pins.a ?? ('*' as const), publicKeysUrl: servers.a.url },
    { issuer: b.issuer, tenants: pins.b ?? ('*' as const), publicKeysUrl: servers.b.url },
  ]
  const options: AuthOptions = {
    issuers,
    audience: 'lunch',
    keysRetry: 0.05,
    keysCooldown: 0.05,
    keysTimeout: 1,
  }
  return { servers, options }
}

async function guarded(t: TestContext, options: AuthOptions): Promise<FastifyInstance> {
  const app = bareApp(t)
  await app.register(tenantAuth, options)
  app.get('/me', async () => 'ok')
  await app.ready()
  return app
}

const get = async (app: FastifyInstance, authority: TestAuthority) =>
  app.inject({ url: '/me', headers: await authority.headers() })

const FAULTS: FaultName[] = ['refused', 'no answer', 'status 500', 'a page']

for (const fault of FAULTS) {
  test(`while the keys of one issuer fail (${fault}), the other verifies as before`, async (t) => {
    const { servers, options } = await start(t)
    await servers.a.fail(fault)
    const app = await guarded(t, options)
    await until(() => servers.b.fetches > 0)
    assert.equal((await get(app, b)).statusCode, 200)
    assertRefused(await get(app, a), 'ERR_AUTH_KEYS_UNAVAILABLE')
    assert.equal(servers.b.fetches, 1)
    await servers.a.fail(null)
    await until(() => app.authService.isReady())
    assert.equal((await get(app, a)).statusCode, 200)
  })
}

test('a known token of one issuer costs no promise while the other hangs or rotates', async (t) => {
  const { servers, options } = await start(t)
  const authenticator = standaloneAuthenticator(options, SILENT)
  authenticator.open()
  t.after(() => authenticator.close())
  const verify = (token: string) => principalOf(authenticator, `Bearer ${token}`)
  const known = await b.token()
  const principal = await verify(known)
  await verify(await a.token())
  await servers.a.fail('no answer')
  const rotated = await createTestAuthority({ issuer: a.issuer, audience: 'lunch' })
  await rotated.rotate()
  const waiting = verify(await rotated.token({}, { header: { kid: 'new' } }))
  assert.equal(waiting instanceof Promise, true, 'a look for newer keys hangs')
  assert.equal(verify(known), principal)
  const fresh = verify(await b.token({ jti: 'fresh' }))
  assert.equal(fresh instanceof Promise, false)
  await assert.rejects(async () => waiting)
})

test('a rotation of one issuer makes the tokens of that issuer proved anew, and no others', async (t) => {
  let mapped = 0
  const count = (sub: string) => () => {
    mapped += 1
    return { sub }
  }
  const own = await createTestAuthority({ issuer: 'https://own.test', audience: 'lunch' })
  const server = await KeyServer.start(() => own.publicKeys)
  t.after(() => server.close())
  const app = await guarded(t, {
    audience: 'lunch',
    issuers: [
      { issuer: own.issuer, tenants: '*', publicKeysUrl: server.url },
      { ...b.issuerRules({ tenants: '*' }), mapClaims: count('b') },
    ],
  })
  const token = await b.headers()
  const ask = async () => app.inject({ url: '/me', headers: token })
  assert.equal((await ask()).statusCode, 200)
  const old = await own.headers()
  assert.equal((await app.inject({ url: '/me', headers: old })).statusCode, 200)
  await own.rotate()
  await app.authService.refreshKeys(own.issuer)
  assert.equal((await get(app, own)).statusCode, 200)
  assertRefused(await app.inject({ url: '/me', headers: old }), 'ERR_AUTH_TOKEN_INVALID')
  assert.equal((await ask()).statusCode, 200)
  assert.equal(mapped, 1)
})

test('every issuer of all tenants must be able to verify, until the service is ready', async (t) => {
  const { servers, options } = await start(t, { b: ['acme'] })
  await servers.a.fail('status 500')
  const app = await guarded(t, options)
  await until(() => servers.b.fetches > 0)
  assert.equal((await get(app, b)).statusCode, 200)
  assert.equal(app.authService.isReady(), false)
  await servers.a.fail(null)
  await until(() => app.authService.isReady())
})

test('where each issuer is pinned, one that can verify is enough', async (t) => {
  const { servers, options } = await start(t, { a: ['a'], b: ['b'] })
  await servers.a.fail('status 500')
  const app = await guarded(t, options)
  await until(() => app.authService.isReady())
  const [ofA, ofB] = app.authService.stats().documents
  assert.deepEqual([ofA?.name, ofA?.state], ['a.test', 'none'])
  assert.deepEqual([ofB?.name, ofB?.state, ofB?.failure], ['b.test', 'fresh', null])
  await until(() => app.authService.stats().documents[0]?.failure?.includes('500') === true)
})

test('keys are refreshed for one issuer, for all, and not for a stranger', async (t) => {
  const { servers, options } = await start(t)
  const app = await guarded(t, options)
  await until(() => app.authService.isReady())
  const fetches = () => [servers.a.fetches, servers.b.fetches]
  await app.authService.refreshKeys(b.issuer)
  assert.deepEqual(fetches(), [1, 2])
  await app.authService.refreshKeys()
  assert.deepEqual(fetches(), [2, 3])
  const unknown = { code: 'ERR_AUTH_KEYS_UNAVAILABLE' }
  await assert.rejects(app.authService.refreshKeys('https://c.test'), unknown)
})
