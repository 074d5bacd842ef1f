import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify from 'fastify'
import { Redis } from 'ioredis'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { StreamServer } from '../helpers/servers/stream-server.ts'
import { lunchApi } from './backchannel-logout.ts'

test('a logout at the authorization server ends the session in all processes', async (t) => {
  const server = await StreamServer.open()
  t.after(() => server.close())
  const authority = await createTestAuthority()
  const [app, other] = [Fastify(), Fastify()]
  for (const each of [app, other]) {
    const client = new Redis(server.url)
    t.after(() => client.disconnect())
    t.after(() => each.close())
    await lunchApi(each, client, authority.options)
  }
  const becomes = async (each: typeof app, sid: string, status: number) => {
    const headers = await authority.headers({ sub: 'alice', sid })
    const end = performance.now() + 10_000
    while ((await each.inject({ url: '/menu', headers })).statusCode !== status) {
      assert.equal(performance.now() < end, true, `it does not become ${status}`)
      await wait(2)
    }
  }
  for (const each of [app, other]) await becomes(each, 's1', 200)

  const logoutToken = await authority.token(
    {
      sub: 'alice',
      sid: 's1',
      jti: 'logout-1',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    },
    { audience: 'lunch-web', header: { typ: 'logout+jwt' } },
  )
  const answer = await app.inject({
    method: 'POST',
    url: '/backchannel-logout',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `logout_token=${logoutToken}`,
  })
  assert.equal(answer.statusCode, 200)

  for (const each of [app, other]) {
    await becomes(each, 's1', 401)
    await becomes(each, 's2', 200)
  }
})
