import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'

const ROOT = { '*': ['authz:superuser'], held: [] }
const STRANGER = '401 ERR_AUTH_TOKEN_MISSING'
const NEVER = '403 ERR_AUTH_RESOURCE_MISSING'

/** What an early route declares, and the answers to a stranger and to a superuser. */
const CONFIGS: readonly [
  config: object,
  stranger: string,
  superuser: string,
  options?: AuthOptions,
][] = [
  [{ noauth: true }, '200', '200'],
  [{ noauth: true, swagger: 'hidden' }, '200', '200'],
  [{ noauth: 'true' }, STRANGER, '200'],
  [{ noauth: 1 }, STRANGER, '200'],
  [{ noauth: true, tenant: null }, STRANGER, '400 ERR_AUTH_TENANT_MISSING'],
  [{ noauth: true, userInfo: true }, STRANGER, '200'],
  [{ noauth: true, resources: null }, STRANGER, '200'],
  [{ noauth: true, requires: 'a:b' }, STRANGER, NEVER],
  [{ requireAny: ['a:b'] }, STRANGER, NEVER],
  [Object.create({ require: 'a:b' }), STRANGER, NEVER],
  [{ noauth: true, require: 'a:b' }, STRANGER, '200'],
  [{ noAuth: true }, STRANGER, '200'],
  [{ require: [] }, STRANGER, NEVER],
  [{ require: null }, STRANGER, NEVER],
  [{ require: 'junk' }, STRANGER, NEVER],
  [{ require: ['a:b', ''] }, STRANGER, NEVER],
  [{ require: 'a:b' }, STRANGER, '200'],
  [{ tenant: 'yes' }, STRANGER, '400 ERR_AUTH_TENANT_MISSING'],
  [{ tenant: true }, STRANGER, '400 ERR_AUTH_TENANT_MISSING'],
  [{ tenant: 'optional' }, STRANGER, '400 ERR_AUTH_TENANT_MISSING'],
  [{ tenant: 'required' }, STRANGER, '400 ERR_AUTH_TENANT_MISSING', { multitenancy: false }],
  [{ tenant: 'optional' }, STRANGER, '200', { multitenancy: false }],
]

for (const [config, stranger, superuser, options] of CONFIGS) {
  test(`written too early, ${JSON.stringify(config)} with ${JSON.stringify(options)} is read strictly`, async (t) => {
    const app = bareApp(t)
    app.get('/x', { config }, async () => 'x')
    await app.register(
      tenantAuth,
      trusting({ ...options, superuserResource: 'authz:superuser', tenants: ['held'] }),
    )
    assert.equal(outcome(await app.inject('/x')), stranger)
    assert.equal(outcome(await app.inject({ url: '/x', headers: await as(ROOT) })), superuser)
  })
}

test('an early route with a tenant segment is guarded for that tenant, with any declaration', async (t) => {
  const app = bareApp(t)
  const optional: object = { tenant: 'optional' }
  app.get('/:tenant/x', { config: optional }, async (request) => request.tenant)
  app.get('/:tenant/y', async () => 'y')
  await app.register(tenantAuth, trusting())
  const headers = await as()
  const get = async (url: string) => outcome(await app.inject({ url, headers }))
  assert.equal((await app.inject({ url: '/lazy-raccoon/x', headers })).body, 'lazy-raccoon')
  assert.equal(await get('/other/x'), '403 ERR_AUTH_TENANT_FORBIDDEN')
  assert.equal(await get('/other/y?tenant=lazy-raccoon'), '403 ERR_AUTH_TENANT_FORBIDDEN')
})

test('early routes that share a config object are each read by their own path', async (t) => {
  const app = bareApp(t)
  const config = { require: 'order:read' }
  app.get('/x', { config }, async () => 'x')
  app.get('/:tenant/x', { config }, async () => 'x')
  await app.register(tenantAuth, trusting())
  const headers = await as()
  const get = async (url: string) => outcome(await app.inject({ url, headers }))
  assert.equal(await get('/lazy-raccoon/x'), '200')
  assert.equal(await get('/x'), NEVER)
  assert.equal(await get('/lazy-raccoon/x'), '200')
  assert.equal(await get('/quiet-otter/x'), NEVER)
})

test('problems of early routes are logged with the names of the routes', async (t) => {
  const { logger, lines } = logLines()
  const app = bareApp(t, { logger })
  const config: object = { requireAny: ['a:b'] }
  app.get('/x', { config }, async () => 'x')
  await app.register(tenantAuth, trusting())
  await app.ready()
  assert.deepEqual(lines('are wrong')[0]?.['routes'], ['GET /x: requireAny looks like require'])
  const { headers } = await app.inject({ url: '/x', headers: await as() })
  // Nobody can get what would open it, so no scope is named.
  assert.equal(headers['www-authenticate'], 'Bearer realm="api", error="insufficient_scope"')
  assert.equal(
    lines('request refused')[0]?.['reason'],
    'the route is closed: it was wrong at boot, or unknown',
  )
})
