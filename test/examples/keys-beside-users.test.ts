import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { embeddedDatabase } from '../helpers/servers/embedded-database.ts'
import { keysBesideUsers } from './keys-beside-users.ts'

test('users have the rights of a table, keys have their own, and nothing is fetched', async (t) => {
  const database = await embeddedDatabase()
  t.after(() => database.close())
  const authority = await createTestAuthority({ audience: 'lunch' })
  const { app, keys } = await keysBesideUsers(
    database,
    authority.issuerRules({ tenants: '*' }),
    ({ sub }) => (sub === 'dora' ? { 'lazy-raccoon': ['order:read'] } : null),
  )
  t.after(() => app.close())
  await app.ready()
  assert.equal(app.authService.isReady(), true)
  assert.deepEqual(
    app.authService.stats().documents.map(({ state, age }) => [state, age]),
    [
      ['fresh', null],
      ['fresh', null],
    ],
  )
  const { key } = await keys.create({ tenant: 'busy-beaver', resources: ['order:read'] })
  const ask = async (authorization: string, tenant: string) =>
    (await app.inject({ url: `/${tenant}/orders`, headers: { authorization } })).statusCode
  const { authorization } = await authority.headers({ sub: 'dora' })
  assert.equal(await ask(authorization, 'lazy-raccoon'), 200)
  assert.equal(await ask(authorization, 'busy-beaver'), 403)
  assert.equal(await ask(`Bearer ${key}`, 'busy-beaver'), 200)
  assert.equal(await ask(`Bearer ${key}`, 'lazy-raccoon'), 403)

  const forger = await createTestAuthority({
    issuer: 'https://keys.example.com',
    audience: 'lunch',
  })
  const forged = await forger.headers({ resources: { 'busy-beaver': ['order:read'] } })
  assert.equal(await ask(forged.authorization, 'busy-beaver'), 401)
})
