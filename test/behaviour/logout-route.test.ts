import assert from 'node:assert/strict'
import { test } from 'node:test'
import swagger from '@fastify/swagger'
import type { FastifyInstance } from 'fastify'
import { backchannelLogout, denyList } from '../../lib/entrypoints/revocation/index.ts'
import { assertGuarded } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { authority, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import {
  CLIENT,
  FORM,
  formOf,
  logoutApp,
  logoutToken,
  URL_OF_LOGOUT,
} from '../helpers/app/logout-app.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'
import { AUDIENCE, ISSUER, KEY } from '../helpers/tokens/probe.ts'

const INVALID = '{"error":"invalid_request"}'
const folder = tempFolder()

test('in dev mode every logout is 400', async (t) => {
  const devUserInfoPath = folder.write(JSON.stringify({ sub: 'alice' }), 'user.json')
  const { logOut, app } = await logoutApp(t, { auth: { devMode: true, devUserInfoPath } })
  const response = await logOut(logoutToken())
  assert.deepEqual([response.statusCode, response.body], [400, INVALID])
  assert.equal((await app.inject('/me')).statusCode, 200)
})

test('below a prefix the url counts there', async (t) => {
  const app = bareApp(t)
  const revoked = denyList()
  await app.register(tenantAuth, {
    issuer: ISSUER,
    publicKeys: { keys: [KEY.publicJwk] },
    audience: AUDIENCE,
    isRevoked: revoked,
  })
  await app.register(backchannelLogout, { revoked, clients: [CLIENT], prefix: '/v1' })
  await app.register(
    async (scope) =>
      void (await scope.register(backchannelLogout, { revoked, clients: [CLIENT], url: '/out' })),
    { prefix: '/v2' },
  )
  const post = async (url: string) =>
    (await app.inject({ method: 'POST', url, headers: FORM, payload: formOf(logoutToken()) }))
      .statusCode
  assert.deepEqual([await post('/v1/backchannel-logout'), await post('/v2/out')], [200, 200])
  assert.deepEqual([await post('/backchannel-logout'), await post('/out')], [404, 404])
})

test('the route is one open POST for lists, probes and OpenAPI', async (t) => {
  const app = bareApp(t)
  const list = denyList()
  await app.register(swagger, {
    openapi: {},
    transformObject: (given) =>
      'openapiObject' in given ? app.authService.openapi(given.openapiObject) : given.swaggerObject,
  })
  await app.register(tenantAuth, trusting({ isRevoked: list, uncovered: 'refuse' }))
  await app.register(backchannelLogout, { revoked: list, clients: [CLIENT] })
  app.get('/menu', async () => 'soup')
  await assertGuarded(app, authority)
  const listed = app.authService.routes().filter(({ url }) => url === URL_OF_LOGOUT)
  const shown = listed.map(({ method, noauth, seen }) => ({ method, noauth, seen }))
  assert.deepEqual(shown, [{ method: 'POST', noauth: true, seen: true }])
  assert.deepEqual(Object(app.swagger()).paths[URL_OF_LOGOUT].post.security, [])
  assert.equal((await app.inject(URL_OF_LOGOUT)).statusCode, 404)
})

test('the address of the route is free for one route only', async (t) => {
  const { app, revoked } = await logoutApp(t)
  app.register(backchannelLogout, { revoked, clients: [CLIENT] })
  await assert.rejects(async () => app.ready(), { code: 'FST_ERR_DUPLICATED_ROUTE' })
})

const revoked = denyList()
const guardOptions: AuthOptions = {
  issuer: ISSUER,
  publicKeysUrl: 'http://127.0.0.1:9/',
  isRevoked: revoked,
}
const right = { revoked, clients: [CLIENT] }

/** Options that stop the boot, and parts of the message. */
const BAD_OPTIONS: readonly [options: object, ...reported: string[]][] = [
  [{}, 'revoked', 'clients: expected a list of different client ids'],
  [
    { ...right, revoked: denyList() },
    'expected revoked to be the isRevoked of the guard, found another one',
  ],
  [{ ...right, revoked: () => false }, 'revoked: expected a deny list', 'found a function'],
  [{ ...right, revoked: null }, 'revoked: expected a deny list'],
  [{ ...right, clients: [] }, 'clients: expected'],
  [{ ...right, clients: [''] }, 'clients: expected'],
  [{ ...right, clients: ['a', 'a'] }, 'clients: expected'],
  [{ ...right, clients: 'a' }, 'clients: expected'],
  [{ ...right, clients: [7] }, 'clients: expected'],
  [{ ...right, url: 'logout' }, 'url: expected a path without parameters'],
  [{ ...right, url: '/:tenant' }, 'url: expected'],
  [{ ...right, url: '/*' }, 'url: expected'],
  [{ ...right, url: '/a?b' }, 'url: expected'],
  [{ ...right, url: 'https://api.test/out' }, 'url: expected'],
  [{ ...right, url: undefined }, 'url: expected'],
  [{ ...right, sessionless: true }, "sessionless: expected 'subject' or a list of issuers"],
  [{ ...right, sessionless: 'sid' }, 'sessionless: expected'],
  [{ ...right, sessionless: [] }, 'sessionless: expected'],
  [
    { ...right, sessionless: [ISSUER, 'https://other.test'] },
    'backchannelLogout: expected issuers of the guard in sessionless, found another one (code)',
  ],
  [{ ...right, client: ['a'] }, 'did you mean clients?'],
]

for (const [options, ...reported] of BAD_OPTIONS) {
  test(`the options ${JSON.stringify(options)} stop the boot`, async (t) => {
    const app = bareApp(t)
    await app.register(tenantAuth, guardOptions)
    app.register(backchannelLogout, Object(options))
    await assert.rejects(async () => app.ready(), configError(...reported))
  })
}

const keys = { publicKeys: { keys: [KEY.publicJwk] }, audience: AUDIENCE }
const OTHER = 'https://other.test'

/** Guards whose issuers `sessionless` may name. */
const NAMED: readonly [what: string, guard: AuthOptions][] = [
  ['the second of two issuers', { issuer: [ISSUER, OTHER], ...keys }],
  [
    'the second rules of a list',
    { issuers: [ISSUER, OTHER].map((issuer) => ({ issuer, tenants: '*' as const, ...keys })) },
  ],
  ['one that a function may know', { issuers: () => null }],
  ['any, where no issuer is configured', keys],
  ['any, in dev mode', { devMode: true }],
]

for (const [what, guard] of NAMED) {
  test(`sessionless may name ${what}`, async (t) => {
    const app = bareApp(t)
    await app.register(tenantAuth, { ...guard, isRevoked: revoked })
    await app.register(backchannelLogout, { ...right, sessionless: [OTHER] })
    await app.ready()
  })
}

test('without a guard around it, or with one that does not ask the list, the boot stops', async (t) => {
  const places: readonly [found: string, register: (app: FastifyInstance) => void][] = [
    [
      'a scope that is guarded already, found no guard (code)',
      (app) => app.register(backchannelLogout, right),
    ],
    [
      'found no guard',
      (app) => app.register(backchannelLogout, right).register(tenantAuth, guardOptions),
    ],
    [
      'found no guard',
      (app) =>
        app
          .register(async (scope) => void (await scope.register(tenantAuth, guardOptions)))
          .register(backchannelLogout, right),
    ],
    [
      'found no guard',
      // Called by hand, in the scope around the guarded one.
      (app) =>
        app
          .register(async (scope) => void (await scope.register(tenantAuth, guardOptions)))
          .register(
            Object.assign(async (scope: FastifyInstance) => backchannelLogout(scope, right), {
              [Symbol.for('skip-override')]: true,
            }),
          ),
    ],
    [
      'found another one',
      (app) => {
        const { isRevoked: _, ...without } = guardOptions
        app.register(tenantAuth, without).register(backchannelLogout, right)
      },
    ],
  ]
  for (const [found, register] of places) {
    const app = bareApp(t)
    register(app)
    await assert.rejects(async () => app.ready(), configError('backchannelLogout: expected', found))
  }
})
