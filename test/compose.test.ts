import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { setTimeout as later } from 'node:timers/promises'
import Fastify from 'fastify'
import { composeKnownTenants } from '../lib/compose.ts'
import { loadSettings } from '../lib/config/load-settings.ts'
import type { TestTokenOptions } from '../lib/entrypoints/testing/index.ts'
import {
  AnyTenant,
  ListedTenants,
  TenantsByFunction,
} from '../lib/identity/tenants/known-tenants.ts'
import { RemoteTenants } from '../lib/identity/tenants/remote-tenants.ts'
import tenantAuth, { type AuthOptions, AuthService } from '../lib/index.ts'
import { authority, bareApp } from './helpers/app/guarded-app.ts'
import { logLines } from './helpers/app/log-lines.ts'
import { ageByDate } from './helpers/processes/age-by-date.ts'
import { until } from './helpers/processes/until.ts'
import { askedServer } from './helpers/servers/asked-server.ts'
import { KeyServer } from './helpers/servers/key-server.ts'

describe('which tenants exist', () => {
  const url = 'http://127.0.0.1:1/'
  const events = { onFailure() {} }
  for (const [name, options, kind] of [
    ['any tenant exists without configuration', {}, AnyTenant],
    ['a list', { tenants: ['a'] }, ListedTenants],
    ['a URL', { tenants: url }, RemoteTenants],
    ['a function', { tenants: () => true }, TenantsByFunction],
    ['a list in dev mode', { tenants: ['a'], devMode: true }, ListedTenants],
    ['a function in dev mode', { tenants: () => true, devMode: true }, TenantsByFunction],
    ['a URL in dev mode, which is not fetched', { tenants: url, devMode: true }, AnyTenant],
  ] as const) {
    test(name, () => {
      const { settings } = loadSettings(options)
      assert.equal(composeKnownTenants(settings, events).constructor, kind)
    })
  }
})

/** The status of a request with this token under these options. */
async function statusOf(options: AuthOptions, token: TestTokenOptions = {}): Promise<number> {
  const app = Fastify()
  await app.register(tenantAuth, { publicKeys: authority.publicKeys, ...options })
  app.get('/', async () => 'ok')
  const response = await app.inject({ url: '/', headers: await authority.headers({}, token) })
  await app.close()
  return response.statusCode
}

const typ = (value: string | undefined) => ({ header: { typ: value } })

const TABLE: readonly (readonly [string, AuthOptions, TestTokenOptions, number])[] = [
  ['any issuer and audience where none is configured', {}, { issuer: 'x', audience: 'y' }, 200],
  ['an issuer given as a string', { issuer: 'a' }, { issuer: 'a' }, 200],
  ['an issuer of a list', { issuer: ['a', 'b'] }, { issuer: 'b' }, 200],
  ['another issuer than the string', { issuer: 'a' }, { issuer: 'ab' }, 401],
  ['another issuer than the list has', { issuer: ['a', 'b'] }, { issuer: 'c' }, 401],
  ['an audience given as a string', { audience: 'a' }, { audience: ['z', 'a'] }, 200],
  ['an audience of a list', { audience: ['a', 'b'] }, { audience: 'b' }, 200],
  ['another audience', { audience: ['a', 'b'] }, { audience: 'c' }, 401],
  ['an algorithm of the list', { algorithms: ['ES256'] }, {}, 200],
  ['an algorithm that is not on the list', { algorithms: ['RS256'] }, {}, 401],
  ['typ JWT by default', {}, typ('JWT'), 200],
  ['typ at+jwt by default', {}, typ('at+jwt'), 200],
  ['typ as a media type by default', {}, typ('application/AT+JWT'), 200],
  ['no typ by default', {}, typ(undefined), 200],
  ['another typ by default', {}, typ('logout+jwt'), 401],
  ['a typ of the list', { tokenTypes: ['application/x+jwt'] }, typ('x+jwt'), 200],
  ['a typ that is not on the list', { tokenTypes: ['x+jwt'] }, typ('JWT'), 401],
  ['no typ where there is a list', { tokenTypes: ['JWT'] }, typ(undefined), 401],
  ['a token within the tolerance', { clockTolerance: 60 }, { expiresIn: -30 }, 200],
  ['a token beyond the tolerance', { clockTolerance: 10 }, { expiresIn: -30 }, 401],
  ['a token that is too long', { maxTokenLength: 100 }, {}, 401],
]

for (const [name, options, token, status] of TABLE) {
  test(`${name}: ${status}`, async () => {
    assert.equal(await statusOf(options, token), status)
  })
}

test('keys in code win over any URL, and the URL is not asked', async () => {
  const server = await askedServer((_request, response) => response.end('{}'))
  assert.equal(await statusOf({ publicKeysUrl: server.url }), 200)
  assert.equal(server.count, 0)
})

test('the realm of the options is the realm of the challenges', async () => {
  const app = Fastify()
  await app.register(tenantAuth, { ...authority.options, realm: 'my "notes"' })
  app.get('/', async () => 'ok')
  const { headers } = await app.inject('/')
  assert.equal(headers['www-authenticate'], 'Bearer realm="my \\"notes\\""')
  await app.close()
})

describe('how long a document of another server serves', () => {
  const shared = { keysMaxStale: 1000, keysRetry: 30, keysCooldown: 60 }
  for (const [what, options] of [
    ['keys', (url: string) => ({ publicKeysUrl: url, keysMaxAge: 100 })],
    [
      'tenants',
      (url: string) => ({
        publicKeys: authority.publicKeys,
        tenants: url,
        tenantsMaxAge: 100,
      }),
    ],
  ] as const) {
    test(`is what the options say of ${what}`, async (t) => {
      const server = await KeyServer.start(() => (what === 'keys' ? authority.publicKeys : ['a']))
      t.after(() => server.close())
      mock.timers.enable({ apis: ['Date'], now: 0 })
      ageByDate(t)
      t.after(() => mock.timers.reset())
      const log = logLines()
      const failures = () => log.lines(`${what} cannot be fetched`).length
      const app = bareApp(t, { logger: log.logger })
      const service = new AuthService({ ...shared, ...options(server.url) })
      /** A service finds out what is due when it is asked. */
      const readyAt = (seconds: number): boolean => {
        mock.timers.setTime(seconds * 1000)
        return service.isReady()
      }
      await service.install(app)
      await until(() => readyAt(0))

      await server.fail('status 500')
      readyAt(79)
      assert.equal(server.fetches, 1)
      readyAt(80)
      await until(() => failures() === 1)
      assert.equal(server.fetches, 2)

      readyAt(109)
      await later(20)
      assert.equal(server.fetches, 2)
      readyAt(110)
      await until(() => failures() === 2)
      assert.equal(server.fetches, 3)

      assert.equal(readyAt(1099), true)
      assert.equal(readyAt(1100), false)
    })

    test(`and a server that is silent has failed: ${what}`, async (t) => {
      const server = await askedServer(() => {})
      const log = logLines()
      const app = bareApp(t, { logger: log.logger })
      const limit = what === 'keys' ? { keysTimeout: 0.1 } : { tenantsTimeout: 0.1 }
      await new AuthService({ ...shared, ...options(server.url), ...limit }).install(app)
      await until(() => log.lines(`${what} cannot be fetched`).length === 1)
      assert.equal(server.count, 1)
    })
  }
})

for (const [name, tenantsTimeout, status] of [
  ['in time', 5, 200],
  ['late', 0.01, 503],
] as const) {
  const slow = <T>(answer: T) => later(50, answer)
  const options = { ...authority.options, tenantsTimeout }
  test(`isRevoked that answers ${name}: ${status}`, async () => {
    assert.equal(await statusOf({ ...options, isRevoked: () => slow(false) }), status)
  })

  test(`resolveTenant that answers ${name}: ${status}`, async (t) => {
    const app = bareApp(t)
    await app.register(tenantAuth, { ...options, resolveTenant: () => slow('a') })
    app.get('/', { config: { tenant: true } }, async () => 'ok')
    const headers = await authority.headers({ resources: { a: [] } })
    assert.equal((await app.inject({ url: '/', headers })).statusCode, status)
  })

  test(`a tenants function that answers ${name}: ${status}`, async (t) => {
    const app = bareApp(t)
    await app.register(tenantAuth, { ...options, tenants: () => slow(true) })
    app.get('/:tenant', async () => 'ok')
    const headers = await authority.headers({ resources: { a: [] } })
    assert.equal((await app.inject({ url: '/a', headers })).statusCode, status)
  })
}

for (const [tenantsMaxAge, times] of [
  [60, 1],
  [0, 2],
] as const) {
  test(`with tenantsMaxAge ${tenantsMaxAge} two requests ask a function ${times} times`, async (t) => {
    const tenants = mock.fn(() => true)
    const app = bareApp(t)
    await app.register(tenantAuth, { ...authority.options, tenants, tenantsMaxAge })
    app.get('/:tenant', async () => 'ok')
    const headers = await authority.headers({ resources: { a: [] } })
    for (let i = 0; i < 2; i++) await app.inject({ url: '/a', headers })
    assert.equal(tenants.mock.callCount(), times)
  })
}
