import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { setTimeout as later } from 'node:timers/promises'
import Fastify from 'fastify'
import type { TestTokenOptions } from '../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions, AuthService } from '../lib/index.ts'
import { authority, bareApp } from './helpers/app/guarded-app.ts'
import { logLines } from './helpers/app/log-lines.ts'
import { ageByDate } from './helpers/processes/age-by-date.ts'
import { until } from './helpers/processes/until.ts'
import { askedServer } from './helpers/servers/asked-server.ts'
import { KeyServer } from './helpers/servers/key-server.ts'

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
  ['a typ of the list', { tokenTypes: ['application/x+jwt'] }, typ('x+jwt'), 200],
  ['a typ that is not on the list', { tokenTypes: ['x+jwt'] }, typ('JWT'), 401],
  ['no typ where there is a list', { tokenTypes: ['JWT'] }, typ(undefined), 401],
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
