import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  authorizationOf,
  type RouteDeclaration,
  refusalOf,
} from '../../lib/index.ts'
import {
  as,
  authority,
  bareApp,
  guardedApp,
  RIGHTS,
  trusting,
  untyped,
} from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { until } from '../helpers/processes/until.ts'

/** What a hook sees of a refusal: status, code, user and tenant. */
type Seen = [hook: string, code: string | null, sub: string | null, tenant: string | null]

/** Notes what `refusalOf` gives in each hook for which it is meant. */
function watch(app: FastifyInstance): Seen[] {
  const seen: Seen[] = []
  const look = (hook: string, request: FastifyRequest) => {
    const refusal = refusalOf(request)
    const authorization = refusal?.authorization ?? null
    if (authorization !== null) {
      // The rights of the user without a tenant, for any tenant that was asked for.
      assert.deepEqual([authorization.tenant, [...authorization.tenants]], [null, TENANTS])
    }
    const sub = authorization?.userInfo.sub ?? null
    seen.push([hook, refusal?.error.code ?? null, sub, refusal === null ? null : refusal.tenant])
    assert.equal(refusal !== null && authorizationOf(request) !== null, false)
  }
  app.addHook('onError', async (request) => look('onError', request))
  app.addHook('onSend', async (request) => look('onSend', request))
  app.addHook('onResponse', async (request) => look('onResponse', request))
  return seen
}

const TENANTS = ['lazy-raccoon', 'quiet-otter']

interface Case {
  readonly what: string
  readonly options?: AuthOptions
  readonly url: string
  /** False: a request without a user. */
  readonly isUser: boolean
  readonly refusal: [code: string, sub: string | null, tenant: string | null]
}

const USER = 'test-user'
const late = (answer: unknown) => async () => {
  await setTimeout(1)
  return answer
}

const CASES: readonly Case[] = [
  {
    what: 'a stranger who names a tenant in the path',
    url: '/lazy-raccoon/x',
    isUser: false,
    refusal: ['ERR_AUTH_TOKEN_MISSING', null, 'lazy-raccoon'],
  },
  {
    what: 'a stranger who names a tenant in the query',
    url: '/query?tenant=lazy-raccoon',
    isUser: false,
    refusal: ['ERR_AUTH_TOKEN_MISSING', null, 'lazy-raccoon'],
  },
  {
    what: 'a query where the path has the tenant',
    url: '/ghost/x?tenant=lazy-raccoon',
    isUser: true,
    refusal: ['ERR_AUTH_TENANT_FORBIDDEN', USER, 'ghost'],
  },
  {
    what: 'a name that is no tenant’s',
    url: '/query?tenant=*',
    isUser: true,
    refusal: ['ERR_AUTH_TENANT_INVALID', USER, null],
  },
  {
    what: 'a tenant that does not exist, as a late answer says',
    options: untyped({ tenants: late(false) }),
    url: '/lazy-raccoon/x',
    isUser: true,
    refusal: ['ERR_AUTH_TENANT_UNKNOWN', USER, 'lazy-raccoon'],
  },
  {
    what: 'tenants that are unavailable',
    options: untyped({ tenants: late('maybe') }),
    url: '/lazy-raccoon/x',
    isUser: true,
    refusal: ['ERR_AUTH_TENANTS_UNAVAILABLE', USER, 'lazy-raccoon'],
  },
  {
    what: 'a revoked user, who is not authenticated',
    options: untyped({ isRevoked: late(true) }),
    url: '/lazy-raccoon/x',
    isUser: true,
    refusal: ['ERR_AUTH_TOKEN_INVALID', null, 'lazy-raccoon'],
  },
  {
    what: 'a tenant that resolveTenant names',
    options: { resolveTenant: () => 'ghost' },
    url: '/query?tenant=lazy-raccoon',
    isUser: true,
    refusal: ['ERR_AUTH_TENANT_FORBIDDEN', USER, 'ghost'],
  },
  {
    what: 'a tenant that resolveTenant names late',
    options: untyped({ resolveTenant: late('ghost') }),
    url: '/query',
    isUser: true,
    refusal: ['ERR_AUTH_TENANT_FORBIDDEN', USER, 'ghost'],
  },
  {
    what: 'a stranger, for whom resolveTenant is not asked',
    options: { resolveTenant: () => assert.fail('was asked') },
    url: '/query?tenant=lazy-raccoon',
    isUser: false,
    refusal: ['ERR_AUTH_TOKEN_MISSING', null, null],
  },
]

for (const { what, options = {}, url, isUser, refusal } of CASES) {
  for (const method of ['GET', 'HEAD'] as const) {
    test(`${method} with ${what}: ${refusal.join(', ')}`, async (t) => {
      const app = await guardedApp(t, options)
      const seen = watch(app)
      app.get('/:tenant/x', async () => 'never')
      app.get('/:tenant/needs', { config: { require: 'a:b' } }, async () => 'never')
      app.get('/needs', { config: { require: 'a:b' } }, async () => 'never')
      app.get('/query', { config: { tenant: true } }, async () => 'never')
      const headers = isUser ? await as() : {}
      await app.inject({ method, url, headers })
      await until(() => seen.length === 3)
      assert.deepEqual(seen, [
        ['onError', ...refusal],
        ['onSend', ...refusal],
        ['onResponse', ...refusal],
      ])
    })
  }
}

/** Cases that are not a refusal of the guard. */
const OTHERS: readonly [what: string, request: InjectOptions, outcome: string][] = [
  ['a request that is let through', { url: '/x' }, '200'],
  ['a require() in a handler', { url: '/require' }, '403 ERR_AUTH_RESOURCE_MISSING'],
  ['an authorization.in() in a handler', { url: '/in' }, '403 ERR_AUTH_TENANT_FORBIDDEN'],
  ['a refusal of the schema', { url: '/schema' }, '400 FST_ERR_VALIDATION'],
  ['a noauth route', { url: '/open', headers: {} }, '500'],
  ['a url that no route matches', { url: '/none', headers: {} }, '404'],
]

for (const [what, request, expected] of OTHERS) {
  test(`${what} is not a refusal of the guard`, async (t) => {
    const app = await guardedApp(t)
    const seen = watch(app)
    const config = { authorization: true } as const
    app.get('/x', async (request) => String(refusalOf(request)))
    app.get('/require', { config }, async ({ authorization }) => authorization.require('a:b'))
    app.get('/in', { config }, async ({ authorization }) => authorization.in('ghost'))
    const querystring = { type: 'object', required: ['page'] }
    app.get('/schema', { schema: { querystring } }, async () => 'never')
    app.get('/open', { config: { noauth: true } }, async () => {
      throw new Error('own')
    })
    const response = await app.inject({ headers: await as(), ...request })
    assert.equal(outcome(response), expected)
    await until(() => seen.some(([hook]) => hook === 'onResponse'))
    assert.deepEqual(new Set(seen.map(([, code]) => code)), new Set([null]))
  })
}

test('a refusal stays one where an error handler calls the not-found handler', async (t) => {
  const app = await guardedApp(t)
  const seen = watch(app)
  app.setErrorHandler((_error, _request, reply) => reply.callNotFound())
  app.setNotFoundHandler(async (request, reply) => {
    assert.equal(refusalOf(request)?.error.code, 'ERR_AUTH_TOKEN_MISSING')
    return reply.code(404).send('nothing here')
  })
  app.get('/:tenant/x', async () => 'never')
  const response = await app.inject('/lazy-raccoon/x')
  assert.deepEqual([response.statusCode, response.body], [404, 'nothing here'])
  await until(() => seen.some(([hook]) => hook === 'onResponse'))
  assert.deepEqual(seen.at(-1), ['onResponse', 'ERR_AUTH_TOKEN_MISSING', null, 'lazy-raccoon'])
})

test('a client that goes away before a late refusal does no harm', async (t) => {
  let asked = 0
  let answer = (_isSo: boolean): void => {}
  const isRevoked = () => {
    asked++
    return new Promise<boolean>((resolve) => {
      answer = resolve
    })
  }
  const app = await guardedApp(t, { isRevoked })
  const seen = watch(app)
  let isGone = false
  app.addHook('onRequestAbort', async (_request) => {
    isGone = true
  })
  app.get('/:tenant/x', async () => 'never')
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { authorization } = await as()
  const socket = connect(Number(new URL(app.listeningOrigin).port), '127.0.0.1')
  await once(socket, 'connect')
  const lines = ['GET /lazy-raccoon/x HTTP/1.1', 'host: x', `authorization: ${authorization}`]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  await until(() => asked === 1)
  socket.destroy()
  await until(() => isGone)
  answer(true)
  await until(() => seen.some(([hook]) => hook === 'onError'))
  assert.deepEqual(seen.find(([hook]) => hook === 'onError')?.[1], 'ERR_AUTH_TOKEN_INVALID')
})

test('a query parser may give an object that throws, which names no tenant', async (t) => {
  const querystringParser = () =>
    Object.defineProperty({}, 'tenant', {
      enumerable: true,
      get() {
        throw new Error('on purpose')
      },
    })
  const app = await guardedApp(t, {}, { routerOptions: { querystringParser } })
  const seen = watch(app)
  app.get('/query', { config: { tenant: true } }, async () => 'never')
  await app.inject({ url: '/query', headers: await as() })
  await until(() => seen.length === 3)
  assert.deepEqual(seen[0], ['onError', 'ERR_AUTH_TOKEN_INVALID', USER, null])
})

test('two requests that wait for one answer are refused each for its own user', async (t) => {
  const app = await guardedApp(t, untyped({ tenants: late('maybe') }))
  const seen = watch(app)
  app.get('/:tenant/x', async () => 'never')
  const resources = Object.fromEntries(TENANTS.map((tenant) => [tenant, []]))
  await Promise.all(
    ['first', 'second'].map(async (sub) =>
      app.inject({ url: '/lazy-raccoon/x', headers: await as(resources, { sub }) }),
    ),
  )
  await until(() => seen.length === 6)
  const users = seen.filter(([hook]) => hook === 'onError').map(([, , sub]) => sub)
  assert.deepEqual(users.toSorted(), ['first', 'second'])
})

test('an application audits refusals', async (t) => {
  const audited: unknown[] = []
  const audit = (...entry: unknown[]) => audited.push(entry)
  const app = await guardedApp(t)
  app.get('/:tenant/x', async () => 'x')
  app.addHook('onResponse', async (request) => {
    const refusal = refusalOf(request) // { error, authorization, tenant } | null
    if (refusal) audit(refusal.error.code, refusal.authorization?.userInfo.sub, refusal.tenant)
  })
  const headers = await authority.headers({ sub: 'bob', resources: { 'lazy-raccoon': [] } })
  for (const tenant of ['lazy-raccoon', 'busy-beaver']) {
    await app.inject({ url: `/${tenant}/x`, headers })
  }
  await until(() => audited.length === 1)
  assert.deepEqual(audited, [['ERR_AUTH_TENANT_FORBIDDEN', 'bob', 'busy-beaver']])
})

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
    const shown = refuses(() => Object.assign(userInfo, { sub: 'root' }))
    assert.equal(shown, true)
    const actual = refuses(() => Object.assign(userInfo.resources ?? {}, { other: [] }))
    assert.equal(actual, true)
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
