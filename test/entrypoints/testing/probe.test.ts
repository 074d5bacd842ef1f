import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { EventEmitter, once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import cors from '@fastify/cors'
import websocket from '@fastify/websocket'
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import {
  assertGuarded,
  createTestAuthority,
  type GrantedUser,
  type ProbedRoute,
  type ProbeOptions,
  probe,
} from '../../../lib/entrypoints/testing/index.ts'
import tenantAuth, { type AuthOptions, AuthService } from '../../../lib/index.ts'
import { authority, bareApp, guardedApp, trusting, untyped } from '../../helpers/app/guarded-app.ts'

/** `GET /me: 401 401 - -`; an open route is `GET /health: open`. */
function lineOf(row: ProbedRoute): string {
  const { method, url, noauth, stranger, expired, foreigner, without } = row
  const statuses = [stranger, expired, foreigner, without].map((status) => status ?? '-')
  return `${method} ${url}: ${noauth ? 'open' : statuses.join(' ')}`
}

async function linesOf(app: FastifyInstance, options?: ProbeOptions): Promise<string[]> {
  return (await probe(app, authority, options)).map(lineOf)
}

const handler = async () => assert.fail('a handler has run')

/** An application that the package does not know, as one that was made before its import. */
function unknownApp(t: TestContext): FastifyInstance {
  const initialization = channel('fastify.initialization')
  const deaf = t.mock.method(initialization, 'publish', () => {})
  const app = bareApp(t)
  deaf.mock.restore()
  return app
}

test('each route is asked as those whom its policy refuses', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.get('/health', { config: { noauth: true } }, handler)
  app.get('/me', handler)
  app.post('/:tenant/menus', { config: { require: ['menu:write', 'menu:read'] } }, handler)
  app.put('/orders', { config: { tenant: true } }, handler)
  app.patch('/maybe', { config: { tenant: 'optional', require: { any: ['a:b', 'c:d'] } } }, handler)
  app.delete('/all', { config: { require: 'menu:read' } }, handler)
  app.options('/me', handler)
  app.trace('/me', handler)
  assert.deepEqual(await linesOf(app), [
    'GET /health: open',
    'GET /me: 401 401 - -',
    'POST /:tenant/menus: 401 401 403 403',
    'PUT /orders: 401 401 403 -',
    'PATCH /maybe: 401 401 403 403',
    'DELETE /all: 401 401 - 403',
    'OPTIONS /me: 401 401 - -',
    'TRACE /me: 401 401 - -',
  ])
  await assertGuarded(app, authority)
})

test('where each tenant has an address, personas bring tokens for it', async (t) => {
  const resource = 'https://api.test/:tenant/mcp'
  for (const audience of [undefined, 'api']) {
    const { publicKeys, issuer } = authority.options
    const app = bareApp(t, { exposeHeadRoutes: false })
    const options = { publicKeys, issuer, resource, ...(audience && { audience }) }
    await app.register(tenantAuth, options)
    app.get('/:tenant/menu', { config: { require: 'menu:read' } }, handler)
    app.get('/maybe', { config: { tenant: 'optional', require: 'menu:read' } }, handler)
    app.get('/all', { config: { require: 'menu:read' } }, handler)
    assert.deepEqual(await linesOf(app), [
      'GET /:tenant/menu: 401 401 403 403',
      'GET /maybe: 401 401 403 403',
      // Without an audience nobody is let in where there is no tenant.
      `GET /all: 401 401 - ${audience ? '403' : '-'}`,
    ])
    await assertGuarded(app, authority)
  }
})

test('where the tenant may be absent, a member is asked without one too, with the same headers', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  const asked: string[] = []
  app.addHook('onSend', async ({ url, headers }, reply) => {
    asked.push(`${url} ${headers['x-tenant']} ${reply.statusCode}`)
  })
  app.get('/news', { config: { tenant: 'optional', require: 'news:read' } }, handler)
  await assertGuarded(app, authority, { headers: (tenant) => ({ 'x-tenant': tenant }) })
  const [one = ''] = asked
  const tenant = new URL(one.split(' ')[0] ?? '', 'http://a.test').searchParams.get('tenant')
  assert.equal(asked.includes(`/news ${tenant} 403`), true, asked.join(', '))
})

test('an entry has these members, and there is one for each of routes()', async (t) => {
  const app = bareApp(t)
  app.get('/early', handler)
  await app.register(tenantAuth, trusting())
  await app.register(async (scope) => scope.get('/', handler), { prefix: '/prefix' })
  const rows = await probe(app, authority)
  assert.deepEqual(rows[0], {
    method: 'GET',
    url: '/prefix',
    noauth: false,
    stranger: 401,
    expired: 401,
    foreigner: null,
    without: null,
  })
  assert.deepEqual(
    rows.map(({ method, url }) => `${method} ${url}`),
    app.authService.routes().map(({ method, url }) => `${method} ${url}`),
  )
})

test('parameters, wildcards, versions, hosts and own constraints are filled in', async (t) => {
  const app = bareApp(t, {
    exposeHeadRoutes: false,
    routerOptions: {
      constraints: {
        edition: {
          name: 'edition',
          storage: () => {
            const routes = new Map()
            return {
              get: (key) => routes.get(key) ?? null,
              set: (key, value) => routes.set(key, value),
            }
          },
          deriveConstraint: ({ headers }) => String(headers['edition']),
          // Fastify 6 asks for it.
          validate() {},
        },
      },
    },
  })
  await app.register(tenantAuth, trusting())
  const params = { type: 'object', properties: { id: { type: 'string', examples: ['AB-12'] } } }
  app.get('/a/:id(^[A-Z]{2}-\\d{2}$)', { schema: { params } }, handler)
  app.get('/b/:year(^\\d{4}$)-:month(^\\d{2}$)/:file.png', handler)
  app.get('/c/:tenant(^[a-z]{2}$)/d', { config: { require: 'a:b' } }, handler)
  app.get('/e/:tenant?', handler)
  app.get('/f/*', handler)
  app.get('/g', { constraints: { version: '1.2.0' } }, handler)
  app.get('/g', { constraints: { version: '2.0.0' }, config: { require: 'a:b' } }, handler)
  app.get('/h', { constraints: { host: 'a.example' } }, handler)
  app.get(
    '/h',
    { constraints: { host: /^[a-z]+\.b\.example$/ }, config: { tenant: true } },
    handler,
  )
  app.get('/i', { constraints: { edition: 'gold' } }, handler)
  const given = {
    tenant: 'zz',
    params: { year: '2030', month: '01' },
    headers: () => ({ Host: 'x.b.example' }),
  }
  assert.deepEqual(await linesOf(app, given), [
    'GET /a/:id(^[A-Z]{2}-\\d{2}$): 401 401 - -',
    'GET /b/:year(^\\d{4}$)-:month(^\\d{2}$)/:file.png: 401 401 - -',
    'GET /c/:tenant(^[a-z]{2}$)/d: 401 401 403 403',
    'GET /e/:tenant?: 401 401 403 -',
    'GET /f/*: 401 401 - -',
    'GET /g: 401 401 - -',
    'GET /g: 401 401 - 403',
    'GET /h: 401 401 - -',
    'GET /h: 401 401 403 -',
    'GET /i: 401 401 - -',
  ])
  await assertGuarded(app, authority, given)
})

test('a route that cannot be asked is named, with the way out', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.get('/a/:id((x)\\1)', handler)
  app.get('/b/:id', handler)
  app.get('/b/probe', { config: { require: 'a:b' } }, handler)
  app.get('/c/:id', handler)
  await assert.rejects(probe(app, authority), {
    message:
      'probe: cannot ask\n' +
      'GET /a/:id((x)\\1): no known value fits :id; ' +
      'give one: probe(app, authority, { params: { id } })\n' +
      'GET /b/:id: the request reached /b/probe instead; ' +
      'give the probe params or headers that fit: probe(app, authority, { params, headers })',
  })
})

test('params fill what no schema does, of each route that has them', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  const urls = new Set<string>()
  app.addHook('onSend', async ({ url }) => void urls.add(url))
  app.get('/a/:id(^\\d{4}$)', handler)
  app.get('/b/:id/:kind', { schema: { params: { properties: { kind: { const: 'k' } } } } }, handler)
  app.get('/files/*', handler)
  await assert.rejects(probe(app, authority), /GET \/a\/:id\S+: no known .*\{ params: \{ id \} \}/)
  await assertGuarded(app, authority, { params: { id: '0001', '*': 'x/y' } })
  assert.deepEqual([...urls].sort(), [
    '/a/0001',
    '/b/0001/k',
    '/b/probe/k',
    '/files/probe',
    '/files/x/y',
  ])
})

test('a constrained route whose request finds a route of another policy is named', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.get('/a', handler)
  const constraints = { host: /^(x)\1\.example$/ }
  app.get('/a', { constraints, config: { require: 'a:b' } }, handler)
  await assert.rejects(
    probe(app, authority),
    /cannot ask\nGET \/a \(host \S+\): its constraint host is an expression; give the probe/,
  )
  await assert.rejects(
    probe(app, authority, { headers: () => ({ host: 'xx.example' }) }),
    /cannot ask\nGET \/a: the request reached \/a instead/,
  )
})

test('the table names the version, and characters that nobody sees by their number', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  app.addHook('onRequest', async ({ headers }, reply) => {
    if (headers['accept-version'] === '2.0.0') return reply.code(429).send()
  })
  await app.register(tenantAuth, trusting())
  app.get('/x\u202e', { constraints: { version: '1.0.0' } }, handler)
  app.get('/x\u202e', { constraints: { version: '2.0.0' } }, handler)
  await assert.rejects(assertGuarded(app, authority), {
    message: /url +persona .*\nGET +\/x\\u202e \(version 2\.0\.0\) +stranger .*\n.*expired .*$/,
  })
})

test('a route that cannot be asked is named by the numbers of characters nobody sees', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.get('/a\u202e/:id((x)\\1)', handler)
  await assert.rejects(probe(app, authority), /cannot ask\nGET \/a\\u202e\/:id\S+: no known value/)
})

test('an upgrade of a WebSocket is asked with its headers, and opens nothing', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  await app.register(websocket)
  const upgrades: unknown[] = []
  app.addHook('onSend', async ({ headers }) => {
    upgrades.push(headers.upgrade)
  })
  app.get('/:tenant/chat', { websocket: true }, handler)
  app.route({ method: 'GET', url: '/both', handler, wsHandler: handler })
  assert.deepEqual(await linesOf(app), [
    'GET /:tenant/chat: 401 401 403 -',
    'GET /both: 401 401 - -',
  ])
  assert.deepEqual(upgrades, Array(5).fill('websocket'))
})

test('several authorities are probed one by one, each in its own tenants', async (t) => {
  const acme = await createTestAuthority({ issuer: 'https://acme.test' })
  const short = await createTestAuthority({ issuer: 'https://zz.test' })
  const rules = [
    authority.issuerRules({ tenants: '*' }),
    acme.issuerRules({ tenants: ['acme'] }),
    short.issuerRules({ tenants: ['elsewhere', 'zz'] }),
  ]
  const app = bareApp(t)
  await app.register(tenantAuth, { issuers: rules, superuserResource: 'authz:superuser' })
  app.get('/:tenant/menus', { config: { require: ['menu:read', 'authz:superuser'] } }, handler)
  app.get('/t/:tenant(^(?:acme|zz)$)', handler)
  app.get('/u/:tenant(^zz$)', handler)
  app.get('/orders', { config: { tenant: true, require: 'authz:superuser' } }, handler)
  app.get('/all', { config: { require: ['menu:read', 'menu:read'] } }, handler)
  await assertGuarded(app, authority, { tenant: 'zz' })
  await assertGuarded(app, short)
  await assert.rejects(assertGuarded(app, acme), /GET \/u\/:tenant\(\^zz\$\): no known value fits/)
})

test('an unknown issuer among those of a function is an error', async (t) => {
  const asked = (tenants: '*' | string[]) => async (issuer: string) => {
    if (issuer !== authority.issuer) return null
    const { issuer: _, ...rules } = authority.issuerRules({ tenants })
    return rules
  }
  const other = await createTestAuthority({ issuer: 'https://other.test' })
  for (const tenants of ['*', ['acme']] as const) {
    const app = bareApp(t)
    await app.register(tenantAuth, { issuers: asked(tenants === '*' ? '*' : [...tenants]) })
    app.get('/:tenant/menus', handler)
    await assertGuarded(app, authority)
    await assert.rejects(
      probe(app, other),
      /does not trust the issuer https:\/\/other\.test with the audience api;/,
    )
  }
})

/** Options of the guard and of the probe, with what the probe throws. */
const REFUSED: readonly [options: object, given: ProbeOptions, message: RegExp][] = [
  [{ devMode: true }, {}, /^probe: in dev mode every request is of the mock user/],
  [{ resourcesOf: () => null }, {}, /^probe: with resourcesOf .*\{ grant \}/],
  [{ opaqueToken: () => null }, {}, /^probe: with opaqueToken .*\{ grant \}/],
  [{ tenants: ['acme'] }, {}, /^probe: with tenants it needs one that exists: .*\{ tenant \}/],
  [{ resolveTenant: () => null }, {}, /^probe: with resolveTenant it needs .*\{ headers \}/],
  [{}, { tenant: 'acme', foreign: 'acme' }, /^probe: foreign is another tenant/],
  [{ audience: 'other' }, {}, /^probe: the application does not trust the issuer/],
  [{ mapClaims: () => ({ sub: 'a' }) }, {}, /^probe: mapClaims makes another user .*\{ claims \}/],
  [{ mapClaims: () => assert.fail('no') }, {}, /^probe: mapClaims makes another user/],
  [
    { mapClaims: (claims: object) => ({ ...claims, sub: 'a', resources: { '*': ['a:b'] } }) },
    { claims: (user) => ({ ...user }) },
    /^probe: mapClaims makes another user of what claims gives: expected the resources \{.*\}, found \{"\*":\["a:b"\]\}; leave a mapClaims that cannot make them out of the application/,
  ],
  [
    { mapClaims: () => assert.fail('no') },
    { claims: (user) => ({ ...user }) },
    /^probe: mapClaims makes another user of what claims gives: .* found none;/,
  ],
  [
    { mapClaims: () => assert.fail('no'), resourcesOf: () => ({}) },
    { grant: () => {} },
    /^probe: mapClaims refuses the claims; give them: .*\{ claims \}/,
  ],
]

for (const [options, given, message] of REFUSED) {
  test(`with ${Object.keys(options)} a probe would find nothing, and says why`, async (t) => {
    const app = await guardedApp(t, untyped(options))
    app.get('/orders', { config: { tenant: true } }, handler)
    await assert.rejects(probe(app, authority, given), { name: 'Error', message })
    await assert.rejects(assertGuarded(app, authority, given), { name: 'Error', message })
  })
}

/** An application whose table says what its users hold. */
function table() {
  const rows = new Map<string, GrantedUser['resources']>()
  const place = ({ issuer, sub }: { readonly issuer: string | null; readonly sub: string }) =>
    JSON.stringify([issuer, sub])
  return {
    rows,
    resourcesOf: async (user: { readonly issuer: string | null; readonly sub: string }) =>
      rows.get(place(user)) ?? null,
    grant: async (user: GrantedUser) => {
      rows.set(place(user), user.resources)
    },
  }
}

test('with resourcesOf each persona is granted what it holds, and is another user', async (t) => {
  const { rows, resourcesOf, grant } = table()
  const app = await guardedApp(t, { resourcesOf }, { exposeHeadRoutes: false })
  app.get('/me', handler)
  app.post('/:tenant/menus', { config: { require: ['menu:write', 'menu:read'] } }, handler)
  app.get('/orders', { config: { tenant: true } }, handler)
  const given = { tenant: 'acme', foreign: 'other', grant }
  const lines = [
    'GET /me: 401 401 - -',
    'POST /:tenant/menus: 401 401 403 403',
    'GET /orders: 401 401 403 -',
  ]
  // The answers that the application has cached for the first users do not count for later ones.
  for (const _ of [1, 2]) {
    assert.deepEqual(await linesOf(app, given), lines)
    await assertGuarded(app, authority, given)
  }
  const tenants = new Set([...rows.values()].flatMap((resources) => Object.keys(resources)))
  assert.deepEqual([...tenants].sort(), ['*', 'acme', 'other'])
  assert.equal(
    [...rows.keys()].every((row) => row.includes(authority.issuer)),
    true,
  )
})

test('a guard that lets granted users in is found', async (t) => {
  const { resourcesOf, grant } = table()
  const all = { acme: ['menu:read'], elsewhere: ['menu:read'] }
  const app = await guardedApp(t, {
    resourcesOf: async (user) => ((await resourcesOf(user)) === null ? null : all),
  })
  app.get('/:tenant/menus', { config: { require: 'menu:read' } }, handler)
  await assert.rejects(assertGuarded(app, authority, { tenant: 'acme', grant }), {
    name: 'AssertionError',
    message: /foreigner +403 ERR_AUTH_TENANT_FORBIDDEN +204, the handler would have run/,
  })
})

test('a grant that the application does not see is an error', async (t) => {
  const app = await guardedApp(t, { resourcesOf: () => null })
  app.get('/:tenant/menus', { config: { require: 'menu:read' } }, handler)
  await assert.rejects(assertGuarded(app, authority, { grant: () => {} }), {
    message: 'probe: resourcesOf does not return what grant was given',
  })
})

test('with opaqueToken a grant may give the token to ask with', async (t) => {
  const keys = new Map<string, object>()
  const asked: string[] = []
  const app = await guardedApp(t, {
    opaqueToken: (token) => {
      asked.push(token)
      return { ...keys.get(token) }
    },
  })
  app.get('/:tenant/menus', { config: { require: 'menu:read' } }, handler)
  await assertGuarded(app, authority, { grant: () => {} })
  assert.deepEqual(asked, [])
  const grant = ({ issuer, sub, resources }: GrantedUser) => {
    keys.set(`key-${sub}`, { iss: issuer, aud: authority.audience, sub, resources })
    return `key-${sub}`
  }
  await assertGuarded(app, authority, { grant })
  assert.equal(asked.length > 0, true)
})

test('a grant whose tokens are opaque binds them to the key of the probe', async (t) => {
  const keys = new Map<string, Record<string, unknown>>()
  const app = await guardedApp(t, {
    publicKeys: { keys: [] },
    confirmation: 'require',
    publicUrl: 'https://api.test',
    opaqueToken: (token) => keys.get(token) ?? null,
  })
  app.get('/:tenant/menus', { config: { require: 'menu:read' } }, handler)
  const grant = ({ issuer, sub, resources, cnf }: GrantedUser) => {
    keys.set(sub, { iss: issuer, aud: authority.audience, sub, resources, ...(cnf && { cnf }) })
    return sub
  }
  await assertGuarded(app, authority, { grant })
  const isBound = [...keys.values()].map((claims) => Object.hasOwn(claims, 'cnf'))
  assert.deepEqual(new Set(isBound), new Set([true, false]), 'one that is not bound is tried')
})

test('a pinned authority is asked for the foreign tenant, and grants nothing in others', async (t) => {
  const { rows, resourcesOf, grant } = table()
  const app = bareApp(t)
  const issuers = [authority.issuerRules({ tenants: ['acme'] })]
  await app.register(tenantAuth, { issuers, resourcesOf })
  app.get('/:tenant/menus', { config: { require: 'menu:read' } }, handler)
  await assertGuarded(app, authority, { foreign: 'other', grant })
  const tenants = new Set([...rows.values()].flatMap((resources) => Object.keys(resources)))
  assert.deepEqual([...tenants].sort(), ['*', 'acme', 'other'])
})

for (const made of ['after', 'before'] as const) {
  for (const side of ['before', 'after'] as const) {
    for (const options of [{}, { origin: false }, { prefix: '/api' }]) {
      test(`with @fastify/cors ${JSON.stringify(options)} ${side} the guard every other route is asked, in an application made ${made} the import`, async (t) => {
        const app = made === 'after' ? bareApp(t) : unknownApp(t)
        if (side === 'before') await app.register(cors, options)
        await app.register(tenantAuth, trusting())
        if (side === 'after') await app.register(cors, options)
        app.get('/me', handler)
        app.options('/me', handler)
        app.options('/api/me', handler)
        await assertGuarded(app, authority)
        const rows = await probe(app, authority)
        const own = rows.filter(({ method, url }) => method === 'OPTIONS' && url.endsWith('*'))
        assert.deepEqual(
          own.map(({ stranger, expired }) => [stranger, expired]),
          // The early routes of an application that was made before are not known.
          made === 'before' && side === 'before' ? [] : [[null, null]],
        )
      })
    }
  }
}

test('an OPTIONS route of the application whose url is like that of cors is asked', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.options('*', handler)
  assert.deepEqual(await linesOf(app), ['OPTIONS *: 401 401 - -'])
})

test('a tenant that the authority may not speak for is an error', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, { issuers: [authority.issuerRules({ tenants: ['acme'] })] })
  app.get('/:tenant', handler)
  await assert.rejects(probe(app, authority, { tenant: 'zoo' }), /may not speak for the tenant zoo/)
  await assertGuarded(app, authority, { tenant: 'acme' })
})

/** Options with which the same routes are guarded, given what the probe needs. */
const GUARDED: readonly [options: AuthOptions, given: ProbeOptions][] = [
  [{ tenants: ['acme'] }, { tenant: 'acme' }],
  [{ tenants: (tenant) => tenant === 'elsewhere' }, { tenant: 'elsewhere' }],
  [{ multitenancy: false }, {}],
  [{ clockTolerance: 600 }, {}],
  [{ tokenFrom: () => null }, {}],
  [{ isRevoked: () => false }, {}],
  [
    { resolveTenant: ({ headers }) => String(headers['x-tenant']) },
    { headers: (tenant) => ({ 'x-tenant': tenant }) },
  ],
  [
    { mapClaims: ({ rights }) => ({ sub: 'a', resources: Object(rights) }) },
    { claims: ({ sub, resources }) => ({ sub, rights: resources }) },
  ],
  [{ mapClaims: ({ sub, resources }) => ({ sub: `${sub}`, resources: Object(resources) }) }, {}],
]

for (const [options, given] of GUARDED) {
  test(`with ${Object.keys(options)} it is guarded all the same`, async (t) => {
    const app = await guardedApp(t, options)
    app.get('/orders', { config: { tenant: true } }, handler)
    app.get('/:tenant/menus', { config: { require: ['a:b', 'c:d'] } }, handler)
    await assertGuarded(app, authority, given)
  })
}

test('only the guards of a scope, below it or around it are probed', async (t) => {
  const app = bareApp(t)
  const other = await createTestAuthority()
  let admin: FastifyInstance = app
  let inner: FastifyInstance = app
  await app.register(async (scope) => {
    admin = scope
    await new AuthService(trusting()).install(scope)
    await scope.register(async (below) => {
      inner = below
    })
    scope.get('/admin', handler)
  })
  await app.register(async (scope) => {
    await scope.register(tenantAuth, { ...other.options, audience: 'web' })
    scope.get('/web', handler)
  })
  await app.register(async (scope) => {
    await assert.rejects(probe(bareApp(t), authority), /^Error: probe: found no guard/)
    scope.get('/open', { config: { noauth: true } }, handler)
  })
  for (const scope of [admin, inner]) {
    assert.deepEqual(await linesOf(scope), ['GET /admin: 401 401 - -', 'HEAD /admin: 401 401 - -'])
  }
  await assert.rejects(
    probe(app, authority),
    /^Error: probe: .* does not trust the issuer .*each is probed by its scope/,
  )
})

test('two routes of one place are asked each by the headers of its own constraint', async (t) => {
  const byEdition = {
    name: 'edition',
    storage: () => {
      const routes = new Map<unknown, unknown>()
      return {
        get: (edition: unknown) => routes.get(edition) ?? null,
        set: (edition: unknown, route: unknown) => void routes.set(edition, route),
      }
    },
    deriveConstraint: ({ headers }: { headers: IncomingHttpHeaders }) => headers['x-edition'],
    validate: () => {},
  }
  const app = await guardedApp(t)
  app.addConstraintStrategy(Object(byEdition))
  for (const edition of ['1', '2']) {
    app.get('/:tenant/menus', { constraints: { edition } }, handler)
  }
  await assertGuarded(app, authority, {
    headers: (_tenant, { constraints }) => ({ 'x-edition': String(constraints?.['edition']) }),
  })
})

test('a guard of another copy of the package is named as such', async (t) => {
  const app = bareApp(t)
  await app.register(async (scope) => {
    scope.decorate('authService', { routes: () => [] } as never)
  })
  await assert.rejects(probe(app, authority), {
    message:
      'probe: the guard is of another copy of fastify-tenant-auth than this probe; import both from the same one, unbundled, both by import or both by require',
  })
})

test('assertGuarded fails where no route was asked', async (t) => {
  const app = await guardedApp(t)
  app.get('/health', { config: { noauth: true } }, handler)
  const none = { name: 'AssertionError', message: /^assertGuarded: no route was asked/ }
  await assert.rejects(assertGuarded(app, authority), none)
  await assert.rejects(assertGuarded(await guardedApp(t), authority), none)
})

test('a hook that answers before the guard is named', async (t) => {
  const app = bareApp(t)
  app.addHook('onRequest', async ({ url, method }, reply) => {
    if (url === '/hooked') return reply.code(401).send()
    if (method === 'POST') return reply.code(429).send()
  })
  await app.register(tenantAuth, trusting())
  app.get('/hooked', handler)
  app.post('/limited', handler)
  const error: unknown = await assertGuarded(app, authority).catch((thrown: unknown) => thrown)
  assert.ok(error instanceof assert.AssertionError, `${error}`)
  assert.equal(
    error.message,
    [
      'assertGuarded: not refused as their policies say:',
      '',
      'method  url       persona   expected  got',
      'GET     /hooked   stranger  401       401, not from the guard',
      'GET     /hooked   expired   401       401, not from the guard',
      'HEAD    /hooked   stranger  401       401, not from the guard',
      'HEAD    /hooked   expired   401       401, not from the guard',
      'POST    /limited  stranger  401       429, not from the guard',
      'POST    /limited  expired   401       429, not from the guard',
    ].join('\n'),
  )
})

/** Hooks by which a request is never answered. */
const UNANSWERED: readonly [what: string, hook: onRequestHookHandler][] = [
  ['is hijacked', (_request, reply) => void reply.hijack()],
  ['waits for good', () => {}],
]

for (const [what, hook] of UNANSWERED) {
  test(`a request that ${what} fails after ten seconds, and names its route`, async (t) => {
    const app = bareApp(t, { exposeHeadRoutes: false })
    const asked = new EventEmitter()
    const isAsked = once(asked, 'request')
    app.addHook('onRequest', function (request, reply, done) {
      if (request.url !== '/hangs/probe') return done()
      hook.call(this, request, reply, done)
      asked.emit('request')
    })
    await app.register(tenantAuth, trusting())
    app.get('/answers', handler)
    app.get('/hangs/:id', handler)
    await app.ready()
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const failed = assert.rejects(assertGuarded(app, authority), {
      message:
        'probe: GET /hangs/:id was not answered within 10 seconds: a hook hijacks the request, or does not go on',
    })
    await isAsked
    t.mock.timers.tick(10_000)
    await failed
  })
}

test('while a request waits, the process stays', async (t) => {
  const app = bareApp(t, { exposeHeadRoutes: false })
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const found: number[] = []
  app.addHook('onRequest', async () => void found.push(timers() - before))
  await app.register(tenantAuth, trusting())
  app.get('/me', handler)
  await assertGuarded(app, authority)
  assert.deepEqual(found, [1, 1])
  assert.equal(timers(), before)
})

const NO_ROUTE =
  /GET \/:tenant\/menus: the request reached no route; give the probe params or headers/

test('a route that the router does not find is named, and no not-found handler runs', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false, rewriteUrl: () => '/elsewhere' })
  app.setNotFoundHandler(handler)
  app.get('/:tenant/menus', handler)
  await assert.rejects(probe(app, authority), NO_ROUTE)
  await assert.rejects(assertGuarded(app, authority), NO_ROUTE)
})

test('a status that an error handler makes is not the refusal', async (t) => {
  const app = await guardedApp(t, {}, { exposeHeadRoutes: false })
  app.setErrorHandler((_error, _request, reply) => reply.callNotFound())
  app.setNotFoundHandler(handler)
  app.get('/me', handler)
  assert.deepEqual(await linesOf(app), ['GET /me: 404 404 - -'])
  await assert.rejects(assertGuarded(app, authority), /401 +404 ERR_AUTH_TOKEN_MISSING/)
})

test('where the guard lets a foreigner in, the gate answers in the place of the handler', async (t) => {
  // The authorization server of this application grants its users more the second time.
  const seen = new Set<string>()
  const mapClaims = ({ resources }: Record<string, unknown>) => {
    const isFirst = !seen.has(JSON.stringify(resources))
    seen.add(JSON.stringify(resources))
    return { sub: 'a', resources: { ...Object(resources), ...(!isFirst && { probe: ['a:b'] }) } }
  }
  const app = await guardedApp(t, { mapClaims }, { exposeHeadRoutes: false })
  app.get('/:tenant/menus', { config: { require: 'a:b' } }, handler)
  assert.deepEqual(await linesOf(app), ['GET /:tenant/menus: 401 401 204 204'])
  seen.clear()
  await assert.rejects(assertGuarded(app, authority), {
    message: /foreigner +403 ERR_AUTH_TENANT_FORBIDDEN +204, the handler would have run\n/,
  })
})

test('without a configured issuer, any authority is asked with', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, { publicKeys: authority.publicKeys })
  app.get('/:tenant/menus', handler)
  await assertGuarded(app, authority)
})

/** Options under which an application refuses every token of the authority. */
const DISTRUSTS: readonly (readonly [options: AuthOptions, why: RegExp])[] = [
  [{ publicKeys: (await createTestAuthority()).publicKeys }, /ERR_AUTH_TOKEN_INVALID, .+/],
  [{ tokenTypes: ['JWT'] }, /ERR_AUTH_TOKEN_INVALID, .*typ/],
  [{ maxTokenLength: 50 }, /ERR_AUTH_TOKEN_INVALID, .+/],
  [{ isRevoked: () => true }, /ERR_AUTH_TOKEN_INVALID, revoked/],
]

for (const [options, why] of DISTRUSTS) {
  test(`an application that refuses all tokens proves nothing: ${Object.keys(options)}`, async (t) => {
    const app = await guardedApp(t, options)
    app.get('/me', handler)
    const message = new RegExp(`^probe: a good token of the authority is refused: ${why.source}`)
    await assert.rejects(assertGuarded(app, authority), { message })
  })
}

test('no caller from outside can pass for a probe, not even during one', async (t) => {
  const app = bareApp(t)
  let probed: IncomingHttpHeaders = {}
  let duringProbe = ''
  app.addHook('onRequest', async ({ url, headers }) => {
    if (url !== '/me') return
    probed = headers
    duringProbe ||= await health()
  })
  await app.register(tenantAuth, trusting())
  app.get('/health', { config: { noauth: true } }, async () => 'ok')
  app.get('/me', handler)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const health = async () => (await fetch(`${origin}/health`)).text()
  await assertGuarded(app, authority)
  assert.equal(duringProbe, 'ok')
  class ProbedRequest extends Readable {}
  for (const Request of [undefined, Readable, ProbedRequest]) {
    const more = Request === undefined ? {} : { Request }
    const { host: _, ...headers } = probed
    assert.equal((await app.inject({ url: '/health', headers, ...more })).body, 'ok')
  }
})
