import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { until } from '../helpers/processes/until.ts'
import { askedServer } from '../helpers/servers/asked-server.ts'
import { KeyServer } from '../helpers/servers/key-server.ts'
import { readyApp } from './readiness.ts'

const authority = await createTestAuthority()
const { issuer, audience } = authority
const headers = await authority.headers({ resources: { 'lazy-raccoon': [] } })
const menu = { url: '/lazy-raccoon/menu', headers }

test('/ready follows the keys; /alive and what needs no keys go on without them', async (t) => {
  const server = await KeyServer.start(() => authority.publicKeys)
  t.after(() => server.close())
  await server.fail('refused')
  const { app } = await readyApp({ issuer, audience, publicKeysUrl: server.url, keysRetry: 0 })
  t.after(() => app.close())
  const status = async (request: string | typeof menu) => (await app.inject(request)).statusCode
  assert.deepEqual(
    [await status('/ready'), await status('/alive'), await status('/lazy-raccoon/menu')],
    [503, 200, 401],
  )
  assert.equal((await app.inject(menu)).json().code, 'ERR_AUTH_KEYS_UNAVAILABLE')
  await server.fail(null)
  await until(() => app.authService.isReady())
  assert.deepEqual([await status('/ready'), await status(menu)], [200, 200])
})

test('while it drains, /ready is 503 and requests are served; then what waits is ended', async (t) => {
  const hanging = await askedServer(() => {})
  const { app, drain } = await readyApp({ ...authority.options, tenants: hanging.url })
  t.after(() => app.close())
  const waiting = app.inject(menu)
  await until(() => hanging.count === 1)
  const drained = drain(500)
  assert.equal((await app.inject('/ready')).statusCode, 503)
  assert.equal((await app.inject('/alive')).statusCode, 200)
  await drained
  assert.equal((await waiting).json().code, 'ERR_AUTH_TENANTS_UNAVAILABLE')
})
