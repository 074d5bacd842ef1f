import assert from 'node:assert/strict'
import test from 'node:test'
import { assertGuarded, createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { lunchApp } from './lunch.ts'

test('a cook of lazy-raccoon reads its menu, and no other menu', async (t) => {
  const authority = await createTestAuthority()
  const app = await lunchApp(authority.options)
  t.after(() => app.close())

  const headers = await authority.headers({ resources: { 'lazy-raccoon': ['menu:read'] } })
  const own = await app.inject({ url: '/lazy-raccoon/todays-menu', headers })
  assert.equal(own.statusCode, 200)

  const other = await app.inject({ url: '/busy-beaver/todays-menu', headers })
  assert.equal(other.statusCode, 403)

  const stranger = await app.inject('/lazy-raccoon/todays-menu')
  assert.equal(stranger.statusCode, 401)
})

test('the configurable route and the open one answer as they declare', async (t) => {
  const authority = await createTestAuthority()
  const app = await lunchApp(authority.options)
  t.after(() => app.close())
  const headers = await authority.headers({
    preferred_username: 'dora',
    resources: { 'lazy-raccoon': ['order:cancel'] },
  })
  const orders = await app.inject({ url: '/orders?tenant=lazy-raccoon', headers })
  assert.deepEqual(orders.json(), { tenant: 'lazy-raccoon', user: 'dora', mayCancel: true })
  assert.equal((await app.inject({ url: '/orders', headers })).statusCode, 400)
  const menu = await app.inject({ url: '/lazy-raccoon/todays-menu', headers })
  assert.equal(menu.statusCode, 403)
  assert.equal((await app.inject('/health')).body, 'ok')
})

test('each route is closed to those whom its policy refuses', async (t) => {
  const authority = await createTestAuthority()
  const app = await lunchApp(authority.options)
  t.after(() => app.close())

  await assertGuarded(app, authority)
})
