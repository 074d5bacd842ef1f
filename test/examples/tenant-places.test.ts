import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { assertGuarded, createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { embeddedDatabase } from '../helpers/servers/embedded-database.ts'
import { flowsByProject, menuByHost } from './tenant-places.ts'

test("a host is a tenant, and opens to that tenant's users alone", async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await menuByHost(app, authority.options)
  const user = await authority.headers({ sub: 'dora', resources: { acme: [] } })
  const get = async (host: string, url: string) =>
    (await app.inject({ url, headers: { ...user, host } })).body
  assert.equal(await get('acme.lunch.example', '/menu'), 'menu of acme')
  assert.equal(await get('acme.lunch.example:8080', '/orders'), '{"tenant":"acme"}')
  assert.equal(await get('other.lunch.example', '/me'), 'dora')
  for (const url of ['/menu', '/orders']) {
    assert.match(await get('other.lunch.example', url), /ERR_AUTH_TENANT_FORBIDDEN/)
    assert.match(await get('acme.evil.example', url), /ERR_AUTH_TENANT_MISSING/)
  }
  await assertGuarded(app, authority, {
    headers: (tenant) => ({ host: `${tenant}.lunch.example` }),
  })
})

test('a project is found in the body, in a row, or is the only one', async (t) => {
  const authority = await createTestAuthority()
  const database = await embeddedDatabase()
  const app = Fastify()
  t.after(async () => {
    await app.close()
    await database.close()
  })
  await database.exec(`
    create table flows (project text, id text, name text);
    insert into flows values ('p1', '7', 'mail'), ('p2', '8', 'pay'), ('p1', 'probe', 'x');
  `)
  await flowsByProject(app, database, authority.options)
  const headers = await authority.headers({ resources: { p1: ['flow:create', 'flow:read'] } })
  const post = async (payload: object) =>
    (await app.inject({ method: 'POST', url: '/flows', headers, payload })).body
  assert.equal(await post({ projectId: 'p1', name: 'mail' }), '{"project":"p1","name":"mail"}')
  assert.match(await post({ projectId: 'p2', name: 'mail' }), /ERR_AUTH_TENANT_FORBIDDEN/)
  assert.match(await post({ projectId: 'p2' }), /FST_ERR_VALIDATION/)

  const get = async (url: string, more = headers) => {
    const response = await app.inject({ url, headers: more })
    return [response.statusCode, response.body]
  }
  assert.deepEqual(await get('/flows/7'), [200, '{"id":"7","name":"mail"}'])
  const [status, foreign] = await get('/flows/8')
  assert.equal(status, 403)
  assert.deepEqual(await get('/flows/9'), [403, foreign], 'nobody learns which flows there are')

  assert.deepEqual(await get('/flows'), [200, 'flows of p1'])
  const two = await authority.headers({ resources: { p1: [], p2: [] } })
  assert.equal((await get('/flows', two))[0], 400)
  assert.deepEqual(await get('/flows?projectId=p2', two), [200, 'flows of p2'])

  const body = (projectId: string) => ({ projectId, name: 'probed' })
  const url = '/flows?projectId='
  assert.equal((await get(`${url}other`))[0], 403)
  await assert.rejects(assertGuarded(app, authority, { body }), /needs what that reads/)
})
