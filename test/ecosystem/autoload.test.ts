import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import autoload from '@fastify/autoload'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

// @fastify/autoload does not see by itself that this process understands TypeScript.
process.env['FASTIFY_AUTOLOAD_TYPESCRIPT'] = 'yes'

const folder = (name: string) =>
  fileURLToPath(new URL(`../fixtures/autoload/${name}`, import.meta.url))
const routes = { dir: folder('routes'), routeParams: true }

for (const side of SIDES) {
  test(`With @fastify/autoload ${side} the guard every loaded route is guarded`, async (t) => {
    const { app, authority } = await beside(t, side, (app) => app.register(autoload, routes))
    const headers = await authority.headers(ALICE)
    const url = '/lazy-raccoon/menus'
    assert.equal((await app.inject(url)).statusCode, 401)
    assert.equal((await app.inject({ url, headers })).body, 'menus of lazy-raccoon')
    assert.equal((await app.inject({ url: '/busy-badger/menus', headers })).statusCode, 403)
    assert.equal((await app.inject('/health')).body, 'ok')
  })
}

test('The guard itself may be loaded by @fastify/autoload, with the options of all plugins', async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  app.register(autoload, { dir: folder('plugins'), options: { ...authority.options, prefix: '/' } })
  app.register(autoload, routes)
  const headers = await authority.headers(ALICE)
  assert.equal((await app.inject('/lazy-raccoon/menus')).statusCode, 401)
  // A plugin that depends on the guard, and whose file comes first.
  assert.deepEqual(app.refused, ['ERR_AUTH_TOKEN_MISSING'])
  const answer = await app.inject({ url: '/lazy-raccoon/menus', headers })
  assert.equal(answer.body, 'menus of lazy-raccoon')
  const found = app.authService.routes().filter(({ seen }) => !seen)
  assert.deepEqual(found, [])
})
