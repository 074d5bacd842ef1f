import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { readsDeclared } from '../../lib/guard/request-decorators.ts'
import tenantAuth, { authorizationOf, type RouteDeclaration } from '../../lib/index.ts'
import { as, bareApp, guardedApp, RIGHTS, trusting } from '../helpers/app/guarded-app.ts'

const KEYS = ['tenant', 'userInfo', 'resources', 'authorization'] as const

/** Those of our properties that a request carries. */
function carried(request: FastifyRequest): string[] {
  return KEYS.filter((key) => request[key] !== undefined)
}

/** What a route declares, and what its requests carry. */
const DECLARATIONS: readonly [config: RouteDeclaration, carried: string[]][] = [
  [{}, []],
  [{ tenant: false, userInfo: false, resources: false, authorization: false }, []],
  [{ tenant: undefined, userInfo: undefined }, []],
  [{ require: 'menu:read' }, []],
  [{ tenant: true }, ['tenant']],
  [{ tenant: 'required' }, ['tenant']],
  [{ tenant: 'optional' }, ['tenant']],
  [{ userInfo: true }, ['userInfo']],
  [{ resources: true }, ['resources']],
  [{ authorization: true }, ['authorization']],
  [{ tenant: true, userInfo: true, resources: true, authorization: true }, [...KEYS]],
]

for (const [config, expected] of DECLARATIONS) {
  test(`config ${JSON.stringify(config)} gives ${expected.join(', ') || 'nothing'}`, async (t) => {
    const app = await guardedApp(t)
    app.addHook('preHandler', async (request) => {
      assert.notEqual(authorizationOf(request), null)
      assert.deepEqual(carried(request), expected)
    })
    app.get('/x', { config }, async (request) => carried(request))
    const response = await app.inject({ url: '/x?tenant=lazy-raccoon', headers: await as() })
    assert.deepEqual(response.json(), expected)
  })
}

test('requests of a noauth route carry nothing, for strangers and for users', async (t) => {
  const app = await guardedApp(t)
  app.get('/:tenant/x', { config: { noauth: true } }, async (request) => [
    ...carried(request),
    authorizationOf(request),
  ])
  for (const headers of [{}, await as(), { authorization: 'Bearer junk' }]) {
    const response = await app.inject({ url: '/lazy-raccoon/x', headers })
    assert.deepEqual([response.statusCode, response.json()], [200, [null]])
  }
})

test('a request of a 404 carries nothing, and neither does one that is not decided yet', async (t) => {
  const seen: unknown[] = []
  const look = async (request: FastifyRequest) => {
    seen.push([...carried(request), authorizationOf(request)])
  }
  const app = bareApp(t)
  app.addHook('onRequest', look)
  await app.register(tenantAuth, trusting())
  app.setNotFoundHandler(async (request, reply) => {
    await look(request)
    return reply.code(404).send('none')
  })
  app.get('/x', { config: { userInfo: true } }, async () => 'x')
  const headers = await as()
  await app.inject({ url: '/x', headers })
  assert.deepEqual(seen.splice(0), [[null]])
  await app.inject({ url: '/y', headers })
  assert.deepEqual(seen, [[null], [null]])
})

test('the error handler and the hooks of a refused request get nothing', async (t) => {
  const seen: unknown[] = []
  const app = await guardedApp(t)
  const look = (request: FastifyRequest) => {
    seen.push([...carried(request), authorizationOf(request)])
  }
  app.addHook('onResponse', async (request) => look(request))
  app.setErrorHandler(async (error, request, reply) => {
    look(request)
    return reply.code(403).send(error)
  })
  const config = { tenant: true, userInfo: true, require: 'a:b' } as const
  app.get('/:tenant/x', { config }, async () => 'never')
  for (const url of ['/other/x', '/lazy-raccoon/x']) {
    await app.inject({ url, headers: await as() })
  }
  assert.deepEqual(seen, [[null], [null], [null], [null]])
})

test('the properties of a request cannot be assigned, and an attempt changes nothing', async (t) => {
  const app = await guardedApp(t)
  const config = { tenant: true, userInfo: true, resources: true, authorization: true } as const
  app.get('/:tenant/x', { config }, async (request) => {
    for (const key of KEYS) {
      assert.throws(() => Object.assign(request, { [key]: 'other' }), TypeError)
    }
    return request.tenant
  })
  const response = await app.inject({ url: '/lazy-raccoon/x', headers: await as() })
  assert.equal(response.body, 'lazy-raccoon')
})

test('a handler reaches no other request, even with the same token from the cache', async (t) => {
  const app = await guardedApp(t)
  const config = { tenant: true, userInfo: true, resources: true, authorization: true } as const
  const seen: string[] = []
  const refusals: boolean[] = []
  app.get('/:tenant/x', { config }, async (request) => {
    const { tenant, userInfo, resources, authorization } = request
    seen.push(JSON.stringify({ tenant, userInfo, resources, authorization }))
    const attempts: (() => unknown)[] = [
      () => Object.assign(userInfo, { sub: 'root' }),
      () => Object.assign(userInfo.resources ?? {}, { other: [] }),
      () => Reflect.apply([].push, userInfo.resources?.['lazy-raccoon'], ['x:y']),
      () => Reflect.apply([].push, userInfo['groups'], ['admins']),
      () => Object.assign(Object(userInfo['address']), { city: 'elsewhere' }),
      () => Reflect.apply(Set.prototype.add, resources, ['x:y']),
      () => Object.assign(resources, { has: () => true }),
      () => Reflect.apply(Set.prototype.clear, authorization.tenants, []),
      () => Object.assign(authorization, { require: () => {} }),
      () => Reflect.deleteProperty(Object(userInfo.resources), 'lazy-raccoon') || fail(),
      () => Object.setPrototypeOf(userInfo, { sub: 'root' }),
    ]
    for (const attempt of attempts) refusals.push(refuses(attempt))
    authorization.expiresAt.setTime(0)
    return { may: authorization.has('x:y') || resources.has('x:y') }
  })
  const claims = { groups: ['users'], address: { city: 'here' } }
  const headers = await as(RIGHTS, claims)
  for (const _ of [1, 2]) {
    const response = await app.inject({ url: '/lazy-raccoon/x', headers })
    assert.deepEqual(response.json(), { may: false })
  }
  assert.equal(seen[0], seen[1])
  assert.deepEqual(refusals, Array(22).fill(true))
})

function refuses(attempt: () => unknown): boolean {
  try {
    attempt()
    return false
  } catch (error) {
    return error instanceof TypeError
  }
}

function fail(): never {
  throw new TypeError('could not be deleted')
}

test('two requests of one token in two tenants each have their own rights', async (t) => {
  const app = await guardedApp(t)
  const config = { tenant: true, resources: true } as const
  app.get('/:tenant/x', { config }, async ({ tenant, resources }) => ({ tenant, resources }))
  const headers = await as()
  const [first, second] = await Promise.all(
    ['/lazy-raccoon/x', '/quiet-otter/x'].map((url) => app.inject({ url, headers })),
  )
  assert.deepEqual(first?.json(), {
    tenant: 'lazy-raccoon',
    resources: ['menu:read', 'order:read', 'order:cancel'],
  })
  assert.deepEqual(second?.json(), { tenant: 'quiet-otter', resources: ['menu:read'] })
})

test('the mock user of dev mode is immutable, like a real one', async (t) => {
  const app = await guardedApp(t, { devMode: true })
  app.get('/x', { config: { userInfo: true } }, async ({ userInfo }) => {
    assert.equal(
      refuses(() => Object.assign(userInfo, { sub: 'root' })),
      true,
    )
    assert.equal(
      refuses(() => Object.assign(userInfo.resources ?? {}, { other: [] })),
      true,
    )
    return userInfo
  })
  for (const _ of [1, 2]) {
    assert.deepEqual((await app.inject('/x')).json(), {
      sub: 'dev',
      preferred_username: 'dev',
      resources: { default: [], 'test-tenant': [] },
    })
  }
})

test('the methods of an authorization refuse in the same way as a declaration', async (t) => {
  const app = await guardedApp(t)
  const config = { authorization: true } as const
  app.get('/require', { config }, async ({ authorization }) => authorization.require('a:b'))
  app.get('/any', { config }, async ({ authorization }) => authorization.requireAny('a:b', 'c:d'))
  app.get('/forbidden', { config }, async ({ authorization }) => authorization.in('other'))
  app.get('/invalid', { config }, async ({ authorization }) => authorization.in('*'))
  const headers = await as()
  const get = async (url: string) => {
    const { statusCode, headers: answered } = await app.inject({ url, headers })
    return [statusCode, answered['www-authenticate']]
  }
  const insufficient = 'Bearer realm="api", error="insufficient_scope"'
  assert.deepEqual(await get('/require'), [403, `${insufficient}, scope="a:b"`])
  assert.deepEqual(await get('/any'), [403, `${insufficient}, scope="a:b c:d"`])
  assert.deepEqual(await get('/forbidden'), [403, insufficient])
  assert.deepEqual(await get('/invalid'), [400, undefined])
})

test('authorization.in() does not ask whether the tenant exists', async (t) => {
  const app = await guardedApp(t, { tenants: ['lazy-raccoon'] })
  app.get('/:tenant/x', { config: { authorization: true } }, async ({ authorization }) => ({
    tenant: authorization.in('quiet-otter').tenant,
  }))
  const response = await app.inject({ url: '/lazy-raccoon/x', headers: await as() })
  assert.deepEqual(response.json(), { tenant: 'quiet-otter' })
})

test('an object without our properties is not read as declared', () => {
  assert.equal(readsDeclared(Object.create(null)), false)
})
