import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { StreamServer } from '../helpers/servers/stream-server.ts'
import { useRevocation } from './revoked-in-redis.ts'

test('a user who is locked in one process is refused in all', async (t) => {
  const server = await StreamServer.open()
  t.after(() => server.close())
  const [redis, other] = [new Redis(server.url), createClient({ url: server.url })]
  await other.connect()
  t.after(() => redis.disconnect())
  t.after(() => other.destroy())
  const authority = await createTestAuthority()
  const [here, there] = [Fastify(), Fastify()]
  for (const [app, client] of [
    [here, redis],
    [there, other],
  ] as const) {
    t.after(() => app.close())
    await useRevocation(app, client, { ...authority.options, issuer: authority.issuer })
    app.get('/menu', async () => 'soup')
  }
  // Issued a second ago at least: `iat` has no smaller unit.
  const claims = { sub: 'alice', iat: Math.floor(Date.now() / 1000) - 2 }
  const headers = await authority.headers(claims)
  const status = async (app: typeof here) =>
    (await app.inject({ url: '/menu', headers })).statusCode
  const end = performance.now() + 10_000
  const becomes = async (app: typeof here, code: number) => {
    while ((await status(app)) !== code) {
      assert.equal(performance.now() < end, true, `it does not become ${code}`)
      await wait(2)
    }
  }
  for (const app of [here, there]) await becomes(app, 200)
  const locked = await here.inject({
    method: 'POST',
    url: '/users/alice/lock',
    headers: await authority.headers({ sub: 'root', resources: { '*': ['user:lock'] } }),
  })
  assert.equal(locked.body, 'locked')
  for (const app of [here, there]) await becomes(app, 401)
})
