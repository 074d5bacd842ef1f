import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { appWithEngines, type Engine, signed } from './signed-requests.ts'

const authority = await createTestAuthority()
const engine: Engine = { id: 'engine-1', tenant: 'lazy-raccoon', secret: randomBytes(32) }
const url = '/lazy-raccoon/runs'

test('a request of a scheme of its own is decided as any other, and leaves nothing behind', async (t) => {
  const { app, proved } = await appWithEngines([engine], authority.options)
  t.after(() => app.close())
  const ask = async (authorization: string, to = url) => {
    const response = await app.inject({ method: 'POST', url: to, headers: { authorization } })
    return response.statusCode
  }
  const good = signed(engine, 'POST', url)
  assert.equal(await ask(good), 200)
  assert.equal(await ask(signed(engine, 'POST', '/busy-beaver/runs'), '/busy-beaver/runs'), 403)
  const { authorization: user } = await authority.headers({
    resources: { 'lazy-raccoon': ['flow:run'] },
  })
  assert.equal(await ask(user), 200)
  for (const bad of [
    signed({ ...engine, secret: randomBytes(32) }, 'POST', url),
    signed(engine, 'GET', url),
    signed(engine, 'POST', '/busy-beaver/runs'),
    signed({ ...engine, id: 'engine-2' }, 'POST', url),
    'Bearer engine-1',
    'Bearer engine:engine-1',
    `Bearer ${randomBytes(32).toString('base64url')}`,
  ]) {
    assert.equal(await ask(bad), 401, bad)
  }
  const again = await ask(good)
  assert.equal(again, 200, 'this scheme does not prevent replays within its minute')
  assert.equal(proved.size, 0)
})

test('the trap: what is handed on by a name lets everybody in who sends the name', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  // Do not do this.
  app.addHook('onRequest', async (request) => {
    const isProved = request.headers.authorization?.startsWith('Engine ')
    if (isProved) request.headers.authorization = `Bearer ${engine.id}`
  })
  const { issuer: iss, audience: aud } = authority
  await app.register(tenantAuth, {
    ...authority.options,
    opaqueToken: (name) =>
      name === engine.id ? { iss, aud, sub: name, resources: { 'lazy-raccoon': [] } } : null,
  })
  app.post('/:tenant/runs', async () => 'run')
  const headers = { authorization: `Bearer ${engine.id}` }
  const stranger = await app.inject({ method: 'POST', url, headers })
  assert.equal(stranger.statusCode, 200, 'a stranger who has proved nothing')
})
