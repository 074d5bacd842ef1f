import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import fastifyStatic from '@fastify/static'
import { publicScope } from '../../lib/index.ts'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

const root = fileURLToPath(new URL('../fixtures/static', import.meta.url))
const page = 'The menu of the day\n'

for (const side of SIDES) {
  test(`With @fastify/static ${side} the guard files are for users only`, async (t) => {
    const { app, authority } = await beside(side, (app) =>
      app.register(fastifyStatic, { root, prefix: '/files/' }),
    )
    t.after(() => app.close())
    const headers = await authority.headers(ALICE)
    assert.equal((await app.inject({ url: '/files/menu.txt', headers })).body, page)
    for (const url of ['/files/menu.txt', '/files/%6Denu.txt', '/files//menu.txt', '/files/none']) {
      assert.equal((await app.inject(url)).statusCode, 401, url)
    }
  })

  test(`With @fastify/static ${side} the guard only a public folder is public`, async (t) => {
    const { app } = await beside(side, (app) =>
      app.register(publicScope(fastifyStatic), { root, prefix: '/public/' }),
    )
    t.after(() => app.close())
    app.get('/:tenant/:file', async () => 'closed')
    assert.equal((await app.inject('/public/menu.txt')).body, page)
    const found = (await app.inject('/public/%2e%2e/lazy-raccoon/menu.txt')).body.includes('closed')
    assert.equal(found, false)
    assert.equal((await app.inject('/lazy-raccoon/menu.txt')).statusCode, 401)
  })
}

test('A file of a tenant is sent to its users', async (t) => {
  const { app, authority } = await beside('before', (app) =>
    app.register(fastifyStatic, { root, serve: false }),
  )
  t.after(() => app.close())
  app.get('/:tenant/menu', { config: { require: 'menu:read' } }, (_request, reply) =>
    reply.sendFile('menu.txt'),
  )
  const headers = await authority.headers(ALICE)
  assert.equal((await app.inject({ url: '/lazy-raccoon/menu', headers })).body, page)
  assert.equal((await app.inject({ url: '/busy-badger/menu', headers })).statusCode, 403)
})
