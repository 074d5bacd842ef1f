import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authority, guardedApp } from '../../helpers/app/guarded-app.ts'
import { createAuthInfoOf } from './auth-info.ts'

const authInfoOf = createAuthInfoOf('https://api.test')

/** Rights in the tenant, and the scopes that a tool sees. */
const RIGHTS: readonly [what: string, resources: Record<string, string[]>, scopes: string[]][] = [
  ['what is granted', { 'a b': ['menu:read', 'order:read'] }, ['menu:read']],
  ['what that implies', { 'a b': ['menu:edit'] }, ['menu:read', 'menu:edit']],
  ['all for a superuser', { '*': ['all:all'] }, ['menu:read', 'menu:edit']],
  ['nothing of another tenant', { 'a b': [], c: ['menu:edit'] }, []],
]

for (const [what, resources, scopes] of RIGHTS) {
  test(`a tool sees ${what}, and no token`, async (t) => {
    const app = await guardedApp(t, {
      implies: { 'menu:edit': ['menu:read'] },
      superuserResource: 'all:all',
    })
    app.get('/:tenant/info', async (request) => authInfoOf(request))
    const headers = await authority.headers({ sub: 'alice', client_id: 'agent', resources })
    const { expiresAt, ...info } = (await app.inject({ url: '/a%20b/info', headers })).json()
    assert.deepEqual(info, {
      token: '',
      clientId: 'agent',
      scopes,
      resource: 'https://api.test/a%20b/mcp',
      extra: { tenant: 'a b' },
    })
    assert.ok(Math.abs(expiresAt - Date.now() / 1000 - 300) < 60, 'seconds since the epoch')
  })
}

test('a route that is not guarded has no user', async (t) => {
  const app = await guardedApp(t)
  app.get('/open', { config: { noauth: true } }, async (request) => authInfoOf(request))
  assert.equal((await app.inject('/open')).statusCode, 500)
})
