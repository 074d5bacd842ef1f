import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { guardedApp } from '../helpers/app/guarded-app.ts'
import { auth0Token } from '../helpers/tokens/vendor-tokens.ts'
import { after, before, withoutOrganizations } from './from-auth0.ts'

const audience = 'https://menu.example.com/api'
const tenant = auth0Token.org_id

test('the menu of Auth0 users stays theirs, now below their organization', async (t) => {
  const authority = await createTestAuthority({ algorithm: 'RS256', audience })
  t.after(() => authority.close())
  const publicKeysUrl = await authority.listen()
  const server = { issuer: authority.options.issuer, audience, publicKeysUrl }
  const [old, guarded] = [await before(server), await after(server)]
  for (const app of [old, guarded]) {
    t.after(() => app.close())
    assert.equal((await app.inject('/health')).body, 'ok')
  }
  const { iss, aud, ...claims } = auth0Token
  const headers = await authority.headers(claims)
  const without = await authority.headers({ ...claims, permissions: [] })
  const status = async (app: typeof old, url: string, given = {}) =>
    (await app.inject({ url, headers: given })).statusCode
  const was = await old.inject({ url: '/menu', headers })
  const is = await guarded.inject({ url: `/${tenant}/menu`, headers })
  assert.deepEqual([is.statusCode, is.body], [was.statusCode, was.body])
  assert.equal(is.body, `the menu of ${tenant} for ${claims.sub}`)
  for (const [app, url] of [
    [old, '/menu'],
    [guarded, `/${tenant}/menu`],
  ] as const) {
    assert.equal(await status(app, url, without), 403)
    assert.equal(await status(app, url), 401)
  }
  assert.equal(await status(guarded, '/org_other/menu', headers), 403)
})

test('a tenant in a claim of the application’s own is the user’s only one', async (t) => {
  const { options, headers } = await createTestAuthority()
  const app = await guardedApp(t, { ...options, ...withoutOrganizations })
  const config = { tenant: 'required', require: 'read:menu' } as const
  app.get('/:tenant/menu', { config }, async () => 'served')
  const user = {
    headers: await headers({
      sub: 'auth0|1',
      permissions: ['read:menu'],
      'https://lunch.example.com/tenant': 'lazy-raccoon',
    }),
  }
  assert.equal((await app.inject({ url: '/lazy-raccoon/menu', ...user })).statusCode, 200)
  assert.equal((await app.inject({ url: '/busy-beaver/menu', ...user })).statusCode, 403)
})
