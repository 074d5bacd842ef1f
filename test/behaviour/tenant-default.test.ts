import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertGuarded } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions, type RouteDeclaration } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'

const byHost: AuthOptions = { resolveTenant: ({ hostname }) => hostname.split('.')[0] ?? null }
const MISSING = '400 ERR_AUTH_TENANT_MISSING'
const FORBIDDEN = '403 ERR_AUTH_TENANT_FORBIDDEN'
const user = { acme: ['a:b'], '*': ['c:d'] }

/** What a route declares, a request, and the tenant of its user's rights, or the refusal. */
const FOUND: readonly [
  config: RouteDeclaration,
  asked: { url: string; host?: string },
  found: string,
  options?: AuthOptions,
][] = [
  [{}, { url: '/x?tenant=acme' }, 'acme'],
  [{}, { url: '/x' }, MISSING],
  [{}, { url: '/x?tenant=other' }, FORBIDDEN],
  [{ tenant: undefined }, { url: '/x?tenant=other' }, FORBIDDEN],
  [{ tenant: false }, { url: '/x?tenant=other' }, 'null'],
  [{ tenant: 'optional' }, { url: '/x' }, 'null'],
  [{ guests: true }, { url: '/x' }, MISSING],
  [{ guests: true }, { url: '/x?tenant=other' }, 'guest'],
  [{ guests: true, tenant: false }, { url: '/x' }, 'null'],
  [{ require: 'a:b' }, { url: '/x?tenant=acme' }, 'acme'],
  [{ require: 'a:b', tenant: false }, { url: '/x' }, '403 ERR_AUTH_RESOURCE_MISSING'],
  [{ suspended: true }, { url: '/x?tenant=acme' }, 'acme'],
  [{}, { url: '/x', host: 'acme.api.test' }, 'acme', byHost],
  [{}, { url: '/x', host: 'other.api.test' }, FORBIDDEN, byHost],
  [{ tenant: false }, { url: '/x', host: 'other.api.test' }, 'null', byHost],
  [{}, { url: '/x?tenant=other' }, 'null', { multitenancy: false }],
  [{}, { url: '/x' }, 'null', { devMode: true }],
  [{}, { url: '/x?tenant=other' }, FORBIDDEN, { devMode: true }],
  [{ tenant: false }, { url: '/x?tenant=other' }, 'null', { devMode: true }],
]

for (const [config, { url, host = 'localhost' }, found, options] of FOUND) {
  const [declared, set] = [config, options ?? {}].map((each) => JSON.stringify(each))
  test(`by default a route with ${declared} is for a tenant: ${host}${url} is ${found} under ${set}`, async (t) => {
    const app = bareApp(t)
    const shown = async ({ tenant }: { tenant: unknown }) => ({ tenant: tenant === undefined })
    app.get('/early', { config }, shown)
    await app.register(tenantAuth, trusting({ tenantDefault: true, ...options }))
    const seen: string[] = []
    app.get('/x', { config: { ...config, authorization: true } }, async (request) => {
      seen.push(request.authorization === null ? 'guest' : `${request.authorization.tenant}`)
      return { tenant: request.tenant === undefined }
    })
    const headers = { host, ...(await as(user)) }
    const response = await app.inject({ url, headers })
    assert.equal(seen[0] ?? outcome(response), found)
    if (response.statusCode === 200) {
      const isDeclared = config.tenant === 'optional'
      assert.deepEqual(response.json(), { tenant: !isDeclared }, 'it receives what it declares')
    }
    const early = outcome(await app.inject({ url: url.replace('/x', '/early'), headers }))
    if (config.guests || config.tenant === 'optional') return
    assert.equal(early, seen[0] === undefined ? found : '200')
  })
}

test('without the option a route that declares no tenant looks at none', async (t) => {
  const app = await guardedApp(t)
  app.get('/x', async () => 'x')
  const actual = outcome(await app.inject({ url: '/x?tenant=other', headers: await as(user) }))
  assert.equal(actual, '200')
})

test('segments, open routes and other paths are as ever', async (t) => {
  const app = await guardedApp(t, { tenantDefault: true })
  app.get('/:tenant/x', { config: { tenant: false } }, async () => 'x')
  app.get('/open', { config: { noauth: true } }, async () => 'x')
  const headers = await as(user)
  assert.equal(outcome(await app.inject({ url: '/acme/x', headers })), '200')
  assert.equal(outcome(await app.inject({ url: '/other/x', headers })), FORBIDDEN)
  assert.equal(outcome(await app.inject('/open')), '200')
  assert.equal((await app.inject({ url: '/nowhere', headers })).statusCode, 404)
})

test('a parameter that looks like the tenant stops the boot, unless the route wants none', async (t) => {
  const app = await guardedApp(t, { tenantDefault: true })
  app.get('/orgs/:tenantId/b', { config: { tenant: false } }, async () => 'x')
  app.get('/orgs/:tenantId/a', async () => 'x')
  await assert.rejects(async () => app.ready(), {
    message:
      'GET /orgs/:tenantId/a: :tenantId looks like the tenant segment, which is :tenant; rename it, or set tenantParameter',
  })
})

test('routes(), the probe and the document show the tenant', async (t) => {
  const app = await guardedApp(t, { tenantDefault: true }, { exposeHeadRoutes: false })
  app.get('/a', async () => 'x')
  app.get('/b', { config: { tenant: false } }, async () => 'x')
  await app.ready()
  assert.deepEqual(
    app.authService.routes().map(({ url, tenant }) => [url, tenant]),
    [
      ['/a', 'query'],
      ['/b', null],
    ],
  )
  await assertGuarded(app, authority)
  const { paths } = app.authService.openapi({ paths: { '/a': { get: {} }, '/b': { get: {} } } })
  assert.match(JSON.stringify(paths['/a']), /"name":"tenant","in":"query","required":true/)
  assert.doesNotMatch(JSON.stringify(paths['/b']), /"in":"query"/)
})

const WARNING = 'tenant auth: resolveTenant is given, and these guarded routes look at no tenant'

test('with resolveTenant alone one warning lists the guarded routes that look at no tenant', async (t) => {
  const log = logLines()
  const app = bareApp(t, { logger: log.logger, exposeHeadRoutes: false })
  app.get('/early', async () => 'x')
  await app.register(tenantAuth, trusting(byHost))
  app.get('/a', async () => 'x')
  app.post('/b', { config: { guests: true } }, async () => 'x')
  app.get('/c', { config: { tenant: true } }, async () => 'x')
  app.get('/:tenant/d', async () => 'x')
  app.get('/e', { config: { noauth: true } }, async () => 'x')
  app.get('/f', { config: { tenant: false } }, async () => 'x')
  await app.ready()
  const [line, ...more] = log.lines(WARNING)
  assert.match(String(line?.msg), /tenantDefault/)
  const actual = [line?.level, line?.['routes'], more]
  assert.deepEqual(actual, [40, ['GET /a', 'POST /b', 'GET /early'], []])
})

for (const [what, options] of [
  ['with tenantDefault', { ...byHost, tenantDefault: true }],
  ['without resolveTenant', {}],
  ['with multitenancy off, where nothing is resolved', { ...byHost, multitenancy: false }],
] as const) {
  test(`${what} nothing is warned of`, async (t) => {
    const log = logLines()
    const app = await guardedApp(t, options, { logger: log.logger })
    app.get('/a', async () => 'x')
    await app.ready()
    assert.deepEqual(log.lines('resolveTenant'), [])
  })
}
