import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import { publicScope } from '../../lib/index.ts'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const root = fileURLToPath(new URL('../fixtures/static', import.meta.url))
const page = 'The menu of the day\n'

for (const side of SIDES) {
  test(`With @fastify/static ${side} the guard files are for users only`, async (t) => {
    const { app, authority } = await beside(t, side, (app) =>
      app.register(fastifyStatic, { root, prefix: '/files/' }),
    )
    const headers = await authority.headers(ALICE)
    assert.equal((await app.inject({ url: '/files/menu.txt', headers })).body, page)
    for (const url of ['/files/menu.txt', '/files/%6Denu.txt', '/files//menu.txt', '/files/none']) {
      assert.equal((await app.inject(url)).statusCode, 401, url)
    }
  })

  test(`With @fastify/static ${side} the guard only a public folder is public`, async (t) => {
    const { app } = await beside(t, side, (app) =>
      app.register(publicScope(fastifyStatic), { root, prefix: '/public/' }),
    )
    app.get('/:tenant/:file', async () => 'closed')
    assert.equal((await app.inject('/public/menu.txt')).body, page)
    const found = (await app.inject('/public/%2e%2e/lazy-raccoon/menu.txt')).body.includes('closed')
    assert.equal(found, false)
    assert.equal((await app.inject('/lazy-raccoon/menu.txt')).statusCode, 401)
  })
}

test('A file of a tenant is sent to its users', async (t) => {
  const { app, authority } = await beside(t, 'before', (app) =>
    app.register(fastifyStatic, { root, serve: false }),
  )
  app.get('/:tenant/menu', { config: { require: 'menu:read' } }, (_request, reply) =>
    reply.sendFile('menu.txt'),
  )
  const headers = await authority.headers(ALICE)
  assert.equal((await app.inject({ url: '/lazy-raccoon/menu', headers })).body, page)
  assert.equal((await app.inject({ url: '/busy-badger/menu', headers })).statusCode, 403)
})

test('A prefix with the tenant guards a folder, which is the same for all tenants', async (t) => {
  const { app, authority } = await beside(t, 'after', (app) =>
    app.register(fastifyStatic, { root, prefix: '/:tenant/files' }),
  )
  const headers = await authority.headers({ resources: { acme: [], beta: [] } })
  for (const [tenant, status] of [
    ['acme', 200],
    ['beta', 200],
    ['other', 403],
  ] as const) {
    const answer = await app.inject({ url: `/${tenant}/files/menu.txt`, headers })
    assert.equal(answer.statusCode, status, tenant)
    if (status === 200) assert.equal(answer.body, page)
  }
})

const { path: files } = tempFolder()

test('A route that chooses the folder gives each tenant its own files, whatever it is called', async (t) => {
  const root = files
  const app = await guardedApp(t)
  await app.register(fastifyStatic, { root, serve: false })

  // Never the name itself: it may hold `/` and `..`.
  const folderOf = (tenant: string) => createHash('sha256').update(tenant).digest('hex')

  app.get<{ Params: { tenant: string; '*': string } }>(
    '/:tenant/files/*',
    { config: { require: 'file:read' } },
    ({ params }, reply) => reply.sendFile(params['*'], join(root, folderOf(params.tenant))),
  )

  const tenants = ['acme', '..', 'beta/../acme']
  for (const tenant of tenants) {
    mkdirSync(join(root, folderOf(tenant)))
    writeFileSync(join(root, folderOf(tenant), 'name.txt'), tenant)
  }
  writeFileSync(join(root, 'name.txt'), 'of nobody')
  const headers = await as(Object.fromEntries(tenants.map((each) => [each, ['file:read']])))
  const get = (tenant: string, name: string) =>
    app.inject({ url: `/${encodeURIComponent(tenant)}/files/${name}`, headers })
  for (const tenant of ['acme', 'beta/../acme']) {
    assert.equal((await get(tenant, 'name.txt')).body, tenant)
  }
  for (const name of ['..%2fname.txt', '%2e%2e/name.txt', `..%2f${folderOf('..')}%2fname.txt`]) {
    assert.notEqual((await get('acme', name)).statusCode, 200, name)
  }
})
