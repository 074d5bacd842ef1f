import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { embeddedDatabase } from '../helpers/servers/embedded-database.ts'
import { orderRoutes } from './order-owner.ts'

test('an order is changed by its owner, in its tenant, and by nobody else', async (t) => {
  const authority = await createTestAuthority()
  const database = await embeddedDatabase()
  const app = Fastify()
  t.after(async () => {
    await app.close()
    await database.close()
  })
  await database.exec(`
    create table orders (tenant text, id text, owner text, dish text);
    insert into orders values ('acme', '1', 'alice', 'soup'), ('other', '2', 'bob', 'rice');
  `)
  await orderRoutes(app, database, authority.options)
  const put = async (sub: string, url: string) => {
    const headers = await authority.headers({ sub, resources: { acme: [], other: [] } })
    const response = await app.inject({ method: 'PUT', url, headers, payload: { dish: 'cake' } })
    return [response.statusCode, response.json().code]
  }
  assert.deepEqual(await put('bob', '/acme/orders/1'), [403, 'ERR_AUTH_NOT_PERMITTED'])
  assert.deepEqual(await put('bob', '/acme/orders/2'), [404, undefined])
  assert.deepEqual(await put('alice', '/acme/orders/1'), [200, undefined])
  await database.exec('drop table orders')
  assert.deepEqual(await put('alice', '/acme/orders/1'), [503, 'ERR_AUTH_CHECK_UNAVAILABLE'])
})
