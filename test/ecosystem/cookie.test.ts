import assert from 'node:assert/strict'
import { test } from 'node:test'
import cookie from '@fastify/cookie'
import type { FastifyRequest } from 'fastify'
import { ALICE, beside, SIDES } from '../helpers/app/beside.ts'

/** Undefined if @fastify/cookie has not run yet. It belongs before the guard. */
const tokenFrom = ({ cookies }: FastifyRequest): string | null => cookies['token'] ?? null

test('With @fastify/cookie before the guard a token is found in a cookie', async (t) => {
  const { app, authority } = await beside(t, 'before', (app) => app.register(cookie), { tokenFrom })
  app.get('/:tenant/menus', { config: { tenant: 'required' } }, async ({ tenant }) => tenant)
  const token = await authority.token(ALICE)
  const answer = await app.inject({ url: '/lazy-raccoon/menus', cookies: { token } })
  assert.equal(answer.body, 'lazy-raccoon')
  const anonymous = await app.inject({ url: '/lazy-raccoon/menus', cookies: { other: token } })
  assert.equal(anonymous.json().code, 'ERR_AUTH_TOKEN_MISSING')
  const forged = await app.inject({ url: '/lazy-raccoon/menus', cookies: { token: `${token}x` } })
  assert.equal(forged.json().code, 'ERR_AUTH_TOKEN_INVALID')
})

test('With @fastify/cookie after the guard there are no cookies yet, and every request is refused', async (t) => {
  const { app, authority } = await beside(t, 'after', (app) => app.register(cookie), { tokenFrom })
  app.get('/menus', async () => 'ok')
  const token = await authority.token(ALICE)
  const answer = await app.inject({ url: '/menus', cookies: { token } })
  assert.equal(answer.statusCode, 401)
})

for (const side of SIDES) {
  test(`With @fastify/cookie ${side} the guard an Authorization header goes before a cookie`, async (t) => {
    const { app, authority } = await beside(t, side, (app) => app.register(cookie), { tokenFrom })
    app.get('/me', { config: { userInfo: true } }, async ({ userInfo, cookies }) => ({
      sub: userInfo.sub,
      theme: cookies['theme'],
    }))
    const answer = await app.inject({
      url: '/me',
      headers: await authority.headers(ALICE),
      cookies: { token: await authority.token({ sub: 'bob' }), theme: 'dark' },
    })
    assert.deepEqual(answer.json(), { sub: 'alice', theme: 'dark' })
  })
}
