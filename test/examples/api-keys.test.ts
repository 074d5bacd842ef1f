import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { PGlite } from '@electric-sql/pglite'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { ageByDate } from '../helpers/processes/age-by-date.ts'
import { embeddedDatabase } from '../helpers/servers/embedded-database.ts'
import { ApiKeys } from './api-keys.ts'

const authority = await createTestAuthority()

let database: PGlite
before(async () => {
  database = await embeddedDatabase()
})
after(() => database.close())

/** An application for users and machines, on a clock that the test moves. */
async function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  ageByDate(t)
  const keys = new ApiKeys(database, authority)
  await keys.createSchema()
  const app = Fastify()
  t.after(() => app.close())
  await app.register(tenantAuth, { ...authority.options, opaqueToken: keys.claimsOf })
  app.get(
    '/:tenant/menu',
    { config: { tenant: 'required', userInfo: true, require: 'menu:read' } },
    async ({ tenant, userInfo }) => ({ tenant, sub: userInfo.sub }),
  )
  const get = (tenant: string, token: string) =>
    app.inject({ url: `/${tenant}/menu`, headers: { authorization: `Bearer ${token}` } })
  return {
    keys,
    get,
    pass: (seconds: number) => t.mock.timers.tick(seconds * 1000),
    forget: (sub: string) => app.authService.forget({ issuer: authority.issuer, sub }),
  }
}

const RIGHTS = { tenant: 'lazy-raccoon', resources: ['menu:read'] }

test('a key of a machine works beside the JWT of a user', async (t) => {
  const { keys, get } = await start(t)
  const { id, key } = await keys.create(RIGHTS)
  const byKey = await get('lazy-raccoon', key)
  assert.deepEqual(byKey.json(), { tenant: 'lazy-raccoon', sub: `api-key:${id}` })
  const resources = { 'lazy-raccoon': ['menu:read'] }
  const byToken = await get('lazy-raccoon', await authority.token({ sub: 'dora', resources }))
  assert.deepEqual(byToken.json(), { tenant: 'lazy-raccoon', sub: 'dora' })
})

test('a key is good in its tenant, for its resources, and no further', async (t) => {
  const { keys, get } = await start(t)
  const { key } = await keys.create(RIGHTS)
  assertRefused(await get('busy-beaver', key), 'ERR_AUTH_TENANT_FORBIDDEN')
  const { key: idle } = await keys.create({ ...RIGHTS, resources: [] })
  assertRefused(await get('lazy-raccoon', idle), 'ERR_AUTH_RESOURCE_MISSING', 'menu:read')
  await assert.rejects(keys.create({ ...RIGHTS, tenant: '*' }), { code: '23514' })
})

test('the database holds no key, and nothing that is one', async (t) => {
  const { keys, get } = await start(t)
  const { id, key } = await keys.create(RIGHTS)
  assert.match(key, /^lunch_[\w-]{43}$/)
  const { rows } = await database.query<{ stored: string; hash: Uint8Array }>(
    'select api_key::text as stored, hash from api_key where id = $1',
    [id],
  )
  const [{ stored, hash } = assert.fail('no row')] = rows
  const secret = key.slice('lunch_'.length)
  for (const bytes of [Buffer.from(secret), Buffer.from(secret, 'base64url')]) {
    assert.equal(stored.includes(bytes.toString('hex')), false)
  }
  assert.equal(stored.includes(secret), false)
  const thief = `lunch_${Buffer.from(hash).toString('base64url')}`
  assertRefused(await get('lazy-raccoon', thief), 'ERR_AUTH_TOKEN_INVALID')
})

test('a key that is revoked is refused within opaqueMaxAge', async (t) => {
  const { keys, get, pass } = await start(t)
  const { id, key } = await keys.create(RIGHTS)
  const { key: other } = await keys.create(RIGHTS)
  assert.equal((await get('lazy-raccoon', key)).statusCode, 200)
  await keys.revoke(id)
  pass(30)
  assertRefused(await get('lazy-raccoon', key), 'ERR_AUTH_TOKEN_INVALID')
  assert.equal((await get('lazy-raccoon', other)).statusCode, 200)
})

test('a key that is revoked is refused at once where the application says so', async (t) => {
  const { keys, get, forget } = await start(t)
  const { id, key } = await keys.create(RIGHTS)
  assert.equal((await get('lazy-raccoon', key)).statusCode, 200)
  await keys.revoke(id)
  forget(`api-key:${id}`)
  assertRefused(await get('lazy-raccoon', key), 'ERR_AUTH_TOKEN_INVALID')
})

test('what is no key of ours is refused, without a query where it has another form', async (t) => {
  const { get, keys } = await start(t)
  const query = t.mock.method(database, 'query')
  const { key } = await keys.create(RIGHTS)
  const changed = `${key.slice(0, 20)}${key[20] === 'a' ? 'b' : 'a'}${key.slice(21)}`
  const asked = query.mock.callCount()
  for (const token of [key.slice(0, -1), `${key}a`, key.slice(6), `LUNCH${key.slice(5)}`]) {
    assertRefused(await get('lazy-raccoon', token), 'ERR_AUTH_TOKEN_INVALID')
  }
  assert.equal(query.mock.callCount(), asked)
  assertRefused(await get('lazy-raccoon', changed), 'ERR_AUTH_TOKEN_INVALID')
  assert.equal(query.mock.callCount(), asked + 1)
})
