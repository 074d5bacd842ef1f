import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { useLogout } from './logout.ts'

const folder = tempFolder()
const noted = async () => ['s1', 's2', 's3']

/** The time at which the tests stand still: in the midst of a second. */
const NOW = Date.UTC(2026, 0, 1, 12, 0, 0, 600)
const SECOND = Math.floor(NOW / 1000)

async function logouts(t: TestContext, over: object = {}) {
  t.mock.timers.enable({ apis: ['Date'], now: NOW })
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await useLogout(app, { ...authority.options, issuer: authority.issuer, ...over }, noted)
  app.get('/menu', async () => 'soup')
  const bearer = (claims: object) =>
    authority.headers({ sub: 'alice', iat: SECOND - 5, exp: SECOND + 3600, ...claims })
  const logOut = async (path: string, claims: object) => {
    const headers = await bearer(claims)
    return (await app.inject({ method: 'POST', url: `/logout${path}`, headers })).statusCode
  }
  const status = async (claims: object) =>
    (await app.inject({ url: '/menu', headers: await bearer(claims) })).statusCode
  return { logOut, status }
}

test('a logout ends its session, or its token where there is no session, and no other', async (t) => {
  const { logOut, status } = await logouts(t)
  assert.equal(await logOut('', { sid: 's1', jti: 'j1' }), 200)
  assert.equal(await status({ sid: 's1', jti: 'j2' }), 401)
  assert.equal(await status({ sid: 's2', jti: 'j1' }), 200)
  assert.equal(await logOut('', { jti: 'j3' }), 200)
  assert.equal(await status({ jti: 'j3' }), 401)
  assert.equal(await status({ jti: 'j4' }), 200)
  assert.equal(await logOut('', {}), 500)
})

test('a logout everywhere ends all that was issued up to now, and a login after this second is good', async (t) => {
  const { logOut, status } = await logouts(t)
  assert.equal(await logOut('/everywhere', { sid: 's1' }), 200)
  for (const iat of [SECOND - 5, SECOND]) assert.equal(await status({ sid: 's2', iat }), 401)
  t.mock.timers.setTime(NOW + 400)
  assert.equal(await status({ iat: SECOND + 1 }), 200)
  assert.equal(await status({ sub: 'bob' }), 200)
})

test('a logout everywhere answers when the second is over, so that the next login counts', async (t) => {
  const { logOut } = await logouts(t)
  const first = await Promise.race([logOut('/everywhere', {}), setTimeout(200, 'a part of it')])
  assert.equal(first, 'a part of it')
})

test('a logout elsewhere ends the other sessions, and neither this one nor those of others', async (t) => {
  const { logOut, status } = await logouts(t)
  assert.equal(await logOut('/elsewhere', { sid: 's1' }), 200)
  assert.deepEqual([await status({ sid: 's1' }), await status({ sid: 's2' })], [200, 401])
  assert.equal(await status({ sid: 's4' }), 200)
})

test('where a function maps the user, the names of the token count', async (t) => {
  const mapClaims = (claims: object) => ({ ...claims, sub: `own:${Object(claims).sub}` })
  const { logOut, status } = await logouts(t, { mapClaims })
  assert.equal(await logOut('/everywhere', {}), 200)
  assert.equal(await status({}), 401)
})

test('in dev mode a logout is of no effect, and fails as little', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  const user = JSON.stringify({ sub: 'alice', sid: 's1' })
  await useLogout(app, { devMode: true, devUserInfoPath: folder.write(user, 'user.json') }, noted)
  assert.equal((await app.inject({ method: 'POST', url: '/logout/everywhere' })).statusCode, 200)
})
