import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth, { AuthService } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { authority, bareApp, untyped } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'

const publicKeys = { keys: [] }
const KEY = { sub: 'machine', resources: { acme: ['menu:read'] } }

for (const named of [{}, { issuer: authority.issuer, audience: authority.audience }]) {
  test(`an API of API keys alone boots without a warning, with ${Object.keys(named)}`, async (t) => {
    const log = logLines()
    const app = bareApp(t, { logger: log.logger })
    t.mock.method(globalThis, 'fetch', () => assert.fail('nothing is fetched'))
    const jwt = await authority.token()
    const claims = { ...KEY, iss: authority.issuer, aud: authority.audience }
    const opaqueToken = (token: string) =>
      token === 'key-1' ? claims : token === 'for-a-jwt' ? jwt : null
    await app.register(tenantAuth, { publicKeys, opaqueToken, ...named })
    app.get('/:tenant', { config: { require: 'menu:read' } }, async () => 'ok')
    await app.ready()
    assert.equal(app.authService.isReady(), true)
    assert.deepEqual([log.messages(40), log.messages(50)], [[], []])
    const unnamed = jwt.split('.').with(0, Buffer.from('{"alg":"ES256"}').toString('base64url'))
    for (const [token, expected] of [
      ['key-1', '200'],
      [jwt, '401 ERR_AUTH_TOKEN_INVALID'],
      [unnamed.join('.'), '401 ERR_AUTH_TOKEN_INVALID'],
      ['for-a-jwt', '401 ERR_AUTH_TOKEN_INVALID'],
      ['key-2', '401 ERR_AUTH_TOKEN_INVALID'],
    ] as const) {
      const headers = { authorization: `Bearer ${token}` }
      assert.equal(outcome(await app.inject({ url: '/acme', headers })), expected, token)
    }
    await app.authService.refreshKeys()
    assert.deepEqual(log.messages(40), [])
  })
}

const ISSUER = { issuer: 'https://a.test', audience: 'a', tenants: '*', publicKeys }
const opaqueToken = () => null

for (const [what, options, ...parts] of [
  ['without opaqueToken', { publicKeys }, 'publicKeys', '0 members', 'opaqueToken'],
  ['of an issuer', { issuers: [ISSUER], opaqueToken }, 'issuers[0].publicKeys', '0 members'],
  [
    'with members that verify nothing',
    { publicKeys: { keys: [{}] }, opaqueToken },
    'no usable key: 1 member',
  ],
  ['that is no list', { publicKeys: { keys: {} }, opaqueToken }, 'publicKeys'],
] as [string, object, ...string[]][]) {
  test(`an empty key set ${what} stops the boot`, () => {
    assert.throws(() => new AuthService(untyped(options)), configError(...parts))
  })
}
