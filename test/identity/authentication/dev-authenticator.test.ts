import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { denyList } from '../../../lib/entrypoints/revocation/index.ts'
import tenantAuth, { type AuthOptions, errors } from '../../../lib/index.ts'
import { bareApp } from '../../helpers/app/guarded-app.ts'
import { logLines } from '../../helpers/app/log-lines.ts'
import { outcome } from '../../helpers/app/refusals.ts'
import { tempFolder } from '../../helpers/documents/temp-folder.ts'
import { askedServer } from '../../helpers/servers/asked-server.ts'

const folder = tempFolder()

const USER = {
  sub: 'u1',
  preferred_username: 'Ann',
  resources: { '*': ['menu:read'], acme: ['order:read'], zoo: [] },
}
const devUserInfoPath = folder.write(JSON.stringify(USER), 'ann.json')
const DEV = { devMode: true, devUserInfoPath } satisfies AuthOptions
const QUERY = { config: { tenant: true } } as const

const echo = async (request: { tenant: unknown }) => ({ tenant: request.tenant })

/** An application in dev mode, with routes of every kind. */
async function devApp(t: TestContext, options: AuthOptions = {}): Promise<FastifyInstance> {
  const app = bareApp(t)
  await app.register(tenantAuth, { ...DEV, ...options })
  app.get('/me', { config: { userInfo: true, authorization: true } }, async (request) => {
    const { tenants, expiresAt, resources } = request.authorization
    return { user: request.userInfo, tenants, expiresAt, resources }
  })
  app.get('/open', { config: { noauth: true } }, async () => 'open')
  app.get('/:tenant/path', { config: { tenant: true, resources: true } }, async (request) => ({
    tenant: request.tenant,
    resources: request.resources,
  }))
  app.get('/maybe/:tenant?', { config: { tenant: true } }, echo)
  app.get('/query', QUERY, echo)
  app.get('/optional', { config: { tenant: 'optional' } }, echo)
  app.get('/undeclared', async () => 'ok')
  app.get('/menu', { config: { require: 'menu:read' } }, async () => 'ok')
  app.get('/orders', { config: { tenant: true, require: ['order:read', 'menu:read'] } }, echo)
  app.get('/any', { config: { tenant: true, require: { any: ['x:y', 'order:read'] } } }, echo)
  if (options.multitenancy !== false) {
    app.get('/required', { config: { tenant: 'required' } }, echo)
  }
  return app
}

test('every request acts as the user of the file, deeply immutable', async (t) => {
  const app = await devApp(t)
  const body = (await app.inject('/me')).json()
  assert.deepEqual(body.user, USER)
  assert.deepEqual(body.tenants, ['acme', 'zoo'])
  assert.deepEqual(body.resources, ['menu:read'])
  assert.equal(Date.parse(body.expiresAt) > Date.now(), true)
})

for (const authorization of ['Bearer x', 'Bearer ', 'Basic eDp5', '', 'Bearer a, Bearer b']) {
  test(`no credentials are read, not even ${JSON.stringify(authorization)}`, async (t) => {
    const app = await devApp(t)
    const response = await app.inject({ url: '/me', headers: { authorization } })
    assert.equal(response.statusCode, 200)
  })
}

test('neither tokenFrom nor isRevoked is asked', async (t) => {
  const never = () => assert.fail('asked in dev mode')
  const app = await devApp(t, { tokenFrom: never, isRevoked: never, mapClaims: never })
  assert.equal((await app.inject('/me')).statusCode, 200)
})

const RULES: readonly (readonly [url: string, outcome: string, tenant?: string | null])[] = [
  ['/open', '200'],
  ['/undeclared', '200'],
  ['/undeclared?tenant=', '200'],
  ['/nowhere', '404'],
  ['/acme/path', '200', 'acme'],
  ['/acme/path?tenant=nobody', '200', 'acme'],
  ['/nobody/path', '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['/ACME/path', '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['/constructor/path', '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['/__proto__/path', '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['/*/path', '400 ERR_AUTH_TENANT_INVALID'],
  ['/a%00/path', '400 ERR_AUTH_TENANT_INVALID'],
  ['//path', '400 ERR_AUTH_TENANT_INVALID'],
  ['/maybe', '400 ERR_AUTH_TENANT_MISSING'],
  ['/maybe/zoo', '200', 'zoo'],
  ['/query', '200', null],
  ['/query?tenant=zoo', '200', 'zoo'],
  ['/query?tenant=nobody', '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['/query?tenant=', '400 ERR_AUTH_TENANT_INVALID'],
  ['/query?tenant=*', '400 ERR_AUTH_TENANT_INVALID'],
  ['/query?tenant=acme&tenant=zoo', '400 ERR_AUTH_TENANT_INVALID'],
  ['/optional', '200', null],
  ['/optional?tenant=zoo', '200', 'zoo'],
  ['/menu', '200'],
  ['/orders?tenant=acme', '200', 'acme'],
  ['/orders?tenant=zoo', '403 ERR_AUTH_RESOURCE_MISSING'],
  ['/orders', '403 ERR_AUTH_RESOURCE_MISSING'],
  ['/any?tenant=acme', '200', 'acme'],
  ['/any', '403 ERR_AUTH_RESOURCE_MISSING'],
]

for (const multitenancy of [true, false]) {
  test(`all rules hold of the mock user, with multitenancy ${multitenancy ? 'on' : 'off'}`, async (t) => {
    const app = await devApp(t, { multitenancy })
    for (const [url, expected, tenant] of RULES) {
      const response = await app.inject(url)
      assert.equal(outcome(response), expected, url)
      if (tenant !== undefined) assert.equal(response.json().tenant, tenant, url)
    }
  })
}

test('a required tenant is required', async (t) => {
  const app = await devApp(t)
  assert.equal(outcome(await app.inject('/required')), '400 ERR_AUTH_TENANT_MISSING')
  assert.equal((await app.inject('/required?tenant=zoo')).json().tenant, 'zoo')
})

test('a required tenant without a source stops the boot here too', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, { ...DEV, multitenancy: false })
  app.get('/required', { config: { tenant: 'required' } }, echo)
  await assert.rejects(async () => app.ready(), errors.ERR_AUTH_ROUTE_INVALID)
})

test('no URL is asked, for keys or for tenants', async (t) => {
  const server = await askedServer((_request, response) => response.end('[]'))
  const app = await devApp(t, { publicKeysUrl: server.url, tenants: server.url })
  await app.ready()
  assert.equal(app.authService.isReady(), true)
  await app.authService.refreshKeys()
  assert.equal((await app.inject('/acme/path')).statusCode, 200)
  assert.equal(server.count, 0)
})

test('no source of a deny list is asked', async (t) => {
  const isRevoked = denyList({
    changes: () => assert.fail('changes'),
    append: () => assert.fail('append'),
  })
  const log = logLines()
  const app = bareApp(t, { logger: log.logger })
  await app.register(tenantAuth, { ...DEV, isRevoked })
  app.get('/', async () => 'ok')
  assert.equal(outcome(await app.inject('/')), '200')
  assert.equal(app.authService.isReady(), true)
  assert.deepEqual(app.authService.stats().documents, [])
  assert.deepEqual(log.lines('changes'), [])
})

for (const [name, tenants] of [
  ['list', ['acme', 'other']],
  ['function', (tenant: string) => tenant === 'acme'],
  ['function that answers later', async (tenant: string) => tenant === 'acme'],
] as const) {
  test(`a ${name} of tenants is asked`, async (t) => {
    const app = await devApp(t, { tenants })
    assert.equal(outcome(await app.inject('/acme/path')), '200')
    assert.equal(outcome(await app.inject('/zoo/path')), '404 ERR_AUTH_TENANT_UNKNOWN')
    assert.equal(outcome(await app.inject('/other/path')), '403 ERR_AUTH_TENANT_FORBIDDEN')
  })
}

describe('the file of the mock user', () => {
  test('is not looked at without dev mode', async (t) => {
    const app = bareApp(t)
    await app.register(tenantAuth, { devUserInfoPath: 'missing.json' })
    await app.ready()
  })
})

describe('the log of dev mode', () => {
  const listening = async (t: TestContext, options: AuthOptions, where: object) => {
    const log = logLines()
    const app = bareApp(t, { logger: log.logger })
    await app.register(tenantAuth, options)
    await app.listen(where)
    await app.close()
    return log.messages(40).filter((message) => message.includes('dev mode'))
  }
  const boot =
    'tenant auth: dev mode: every request acts as the mock user Ann, with the rights of tenants: acme, zoo; never use it in production'

  for (const [name, where, beyond] of [
    ['loopback', { port: 0, host: '127.0.0.1' }, []],
    ['localhost', { port: 0, host: 'localhost' }, []],
    ['a Unix socket', { path: `${folder.path}/socket` }, []],
    [
      '0.0.0.0',
      { port: 0, host: '0.0.0.0' },
      ['tenant auth: dev mode listens beyond loopback, on 0.0.0.0'],
    ],
  ] as const) {
    test(`warns at boot${beyond.length > 0 ? ', and of listening' : ''} on ${name}`, async (t) => {
      assert.deepEqual(await listening(t, DEV, where), [boot, ...beyond])
    })
  }

  test('says nothing without dev mode', async (t) => {
    assert.deepEqual(await listening(t, {}, { port: 0, host: '0.0.0.0' }), [])
  })
})
