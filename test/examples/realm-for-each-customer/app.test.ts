import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { PGlite } from '@electric-sql/pglite'
import {
  createTestAuthority,
  type TestAuthority,
  type TestUserInfo,
} from '../../../lib/entrypoints/testing/index.ts'
import { assertRefused, outcome } from '../../helpers/app/refusals.ts'
import { ageByDate } from '../../helpers/processes/age-by-date.ts'
import { embeddedDatabase } from '../../helpers/servers/embedded-database.ts'
import { createApp } from './app.ts'
import { addProvider, createSchema, removeProvider } from './providers.ts'

const realm = (issuer: string) => createTestAuthority({ issuer, audience: 'lunch' })
const own = await realm('https://login.example.com')
const acme = await realm('https://idp.acme.example/realms/staff')
const brook = await realm('https://brook.example')

let database: PGlite
before(async () => {
  database = await embeddedDatabase()
})
after(() => database.close())

/** An application with `acme` in its table, on a clock that the test moves. */
async function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  ageByDate(t)
  await database.exec('drop table if exists identity_provider')
  await createSchema(database)
  await add(t, acme, ['acme', 'acme-test'])
  const app = await createApp(database, own.issuerRules({ tenants: '*' }), {
    superuserResource: 'authz:superuser',
    // The realms of this test are on loopback. In production this option is left out, since a
    // row of the table must not make the application fetch addresses of its own network.
    allowPrivateIssuers: true,
  })
  t.after(() => app.close())
  return {
    /** What a user of a realm gets. */
    get: async (authority: TestAuthority, url: string, user: TestUserInfo = {}) =>
      app.inject({ url, headers: await authority.headers(user, { expiresIn: 3600 }) }),
    inject: (url: string, headers: { authorization: string }) => app.inject({ url, headers }),
    pass: (seconds: number) => t.mock.timers.tick(seconds * 1000),
    forget: ({ issuer }: TestAuthority) => app.authService.forget({ issuer }),
  }
}

/** A new customer, whose realm serves its keys over HTTP. */
async function add(t: TestContext, authority: TestAuthority, tenants: string[]): Promise<void> {
  const { issuer, audience } = authority
  const public_keys_url = await authority.listen()
  t.after(() => authority.close())
  await addProvider(database, { issuer, tenants, audience, public_keys_url })
}

const GREEDY = {
  '*': ['menu:read', 'authz:superuser'],
  acme: ['menu:edit'],
  brook: ['menu:read', 'authz:superuser'],
}

test("a customer's realm speaks for that customer only, whatever its tokens say", async (t) => {
  const { get } = await start(t)
  await add(t, brook, ['brook'])
  const claims: Record<string, string[]>[] = [
    GREEDY,
    { '*': ['menu:read'], brook: [] },
    { brook: ['menu:read'] },
    { '*': ['authz:superuser'] },
  ]
  for (const resources of claims) {
    assertRefused(await get(acme, '/brook/menu', { resources }), 'ERR_AUTH_TENANT_FORBIDDEN')
  }
  assert.equal((await get(acme, '/acme/menu', { resources: GREEDY })).statusCode, 200)
  assertRefused(
    await get(acme, '/acme-test/menu', { resources: GREEDY }),
    'ERR_AUTH_TENANT_FORBIDDEN',
  )
  assert.deepEqual((await get(acme, '/me', { sub: 'dora', resources: GREEDY })).json(), {
    issuer: acme.issuer,
    sub: 'dora',
    resources: { acme: ['menu:edit', 'menu:read', 'authz:superuser'] },
  })
  assert.equal((await get(brook, '/brook/menu', { resources: GREEDY })).statusCode, 200)
})

test("a customer's realm cannot sign for the realm of another, or for the company's", async (t) => {
  const { inject } = await start(t)
  await add(t, brook, ['brook'])
  for (const { issuer } of [brook, own]) {
    const headers = await acme.headers({ resources: GREEDY }, { issuer })
    assertRefused(await inject('/brook/menu', headers), 'ERR_AUTH_TOKEN_INVALID')
  }
})

test("the company's own realm speaks for every customer, and has superusers", async (t) => {
  const { get } = await start(t)
  const superuser = { resources: { '*': ['authz:superuser'] } }
  const helpdesk = { resources: { '*': ['menu:read'], acme: [] } }
  assert.equal((await get(own, '/brook/menu', superuser)).statusCode, 200)
  assert.equal((await get(own, '/acme/menu', helpdesk)).statusCode, 200)
  assertRefused(await get(own, '/brook/menu', helpdesk), 'ERR_AUTH_TENANT_FORBIDDEN')
})

test('a customer that is added counts at once', async (t) => {
  const { get } = await start(t)
  await add(t, brook, ['brook'])
  const answer = await get(brook, '/brook/menu', { resources: { brook: ['menu:read'] } })
  assert.equal(answer.statusCode, 200)
})

test('a realm that was refused before it was added counts after keysCooldown', async (t) => {
  const { get, pass } = await start(t)
  const resources = { brook: ['menu:read'] }
  assertRefused(await get(brook, '/brook/menu', { resources }), 'ERR_AUTH_TOKEN_INVALID')
  await add(t, brook, ['brook'])
  assertRefused(await get(brook, '/brook/menu', { resources }), 'ERR_AUTH_TOKEN_INVALID')
  pass(30)
  assert.equal((await get(brook, '/brook/menu', { resources })).statusCode, 200)
})

test('a customer that is removed counts no more after issuersMaxAge', async (t) => {
  const { inject, get, pass } = await start(t)
  const resources = { acme: ['menu:read'] }
  const headers = await acme.headers({ resources }, { expiresIn: 3600 })
  assert.equal((await inject('/acme/menu', headers)).statusCode, 200)
  await removeProvider(database, acme.issuer)
  assert.equal((await inject('/acme/menu', headers)).statusCode, 200)
  pass(300)
  // Neither the token that was verified before, nor a new one.
  assertRefused(await inject('/acme/menu', headers), 'ERR_AUTH_TOKEN_INVALID')
  assertRefused(await get(acme, '/acme/menu', { resources }), 'ERR_AUTH_TOKEN_INVALID')
})

test('what changes in the table counts at once where the application says so', async (t) => {
  const { inject, get, forget } = await start(t)
  const resources = { acme: ['menu:read'], brook: ['menu:read'] }
  const headers = await acme.headers({ resources }, { expiresIn: 3600 })
  assert.equal((await inject('/acme/menu', headers)).statusCode, 200)
  await removeProvider(database, acme.issuer)
  forget(acme)
  assertRefused(await inject('/acme/menu', headers), 'ERR_AUTH_TOKEN_INVALID')

  assertRefused(await get(brook, '/brook/menu', { resources }), 'ERR_AUTH_TOKEN_INVALID')
  await add(t, brook, ['brook'])
  forget(brook)
  assert.equal((await get(brook, '/brook/menu', { resources })).statusCode, 200)
})

const ROWS: [what: string, row: object][] = [
  ['every tenant', { tenants: ['*'] }],
  ['every tenant beside its own', { tenants: ['brook', '*'] }],
  ['no tenant', { tenants: [] }],
  ['a tenant without a name', { tenants: [null] }],
  ['no audience', { audience: '' }],
]

for (const [what, row] of ROWS) {
  test(`the table takes no row with ${what}`, async (t) => {
    await start(t)
    const good = { issuer: brook.issuer, tenants: ['brook'], audience: 'lunch' }
    const { issuer, tenants, audience } = { ...good, ...row }
    await assert.rejects(
      addProvider(database, { issuer, tenants, audience, public_keys_url: null }),
      { code: '23514' },
    )
  })
}

test('while the table cannot be read, known realms go on and others get 503', async (t) => {
  const { get } = await start(t)
  const resources = { acme: ['menu:read'], brook: ['menu:read'] }
  const outcomes = async () => [
    outcome(await get(acme, '/acme/menu', { resources })),
    outcome(await get(brook, '/brook/menu', { resources })),
    outcome(await get(own, '/acme/menu', { resources })),
  ]
  assert.equal((await get(acme, '/acme/menu', { resources })).statusCode, 200)
  await database.exec('drop table identity_provider')
  assert.deepEqual(await outcomes(), ['200', '503 ERR_AUTH_ISSUERS_UNAVAILABLE', '200'])
})
