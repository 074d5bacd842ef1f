import assert from 'node:assert/strict'
import test from 'node:test'
import { embeddedDatabase } from '../helpers/servers/embedded-database.ts'
import { apiOfKeys } from './api-of-keys.ts'

test('an API of keys is ready at once, and takes a key in either header', async (t) => {
  const database = await embeddedDatabase()
  t.after(() => database.close())
  const { app, keys } = await apiOfKeys(database)
  t.after(() => app.close())
  await app.ready()
  assert.equal(app.authService.isReady(), true)
  const { id, key } = await keys.create({ tenant: 'lazy-raccoon', resources: ['order:read'] })
  const ask = async (headers: Record<string, string>, tenant = 'lazy-raccoon') =>
    (await app.inject({ url: `/${tenant}/orders`, headers })).statusCode
  assert.equal(await ask({ authorization: `Bearer ${key}` }), 200)
  assert.equal(await ask({ 'x-api-key': key }), 200)
  assert.equal(await ask({ 'x-api-key': key }, 'busy-beaver'), 403)
  assert.equal(await ask({ 'x-api-key': `${key}x` }), 401)
  assert.equal(await ask({}), 401)
  await keys.revoke(id)
  app.authService.forget({ sub: `api-key:${id}` })
  assert.equal(await ask({ 'x-api-key': key }), 401)
})
