import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestUserInfo } from '../../../lib/entrypoints/testing/index.ts'
import type { AuthOptions, ResolveTenant } from '../../../lib/index.ts'
import { as, authority, guardedApp, RIGHTS } from '../../helpers/app/guarded-app.ts'
import { assertRefused, outcome, type RefusalCode } from '../../helpers/app/refusals.ts'

/** Answers of the application's function, and the result of each. */
const ANSWERS: readonly [what: string, resolve: () => unknown, code: RefusalCode | null][] = [
  ['a name', () => 'lazy-raccoon', null],
  ['a name, later', async () => 'lazy-raccoon', null],
  [
    'a name, by a thenable',
    () => withThen((done: (value: string) => void) => done('lazy-raccoon')),
    null,
  ],
  ['null', () => null, 'ERR_AUTH_TENANT_MISSING'],
  ['null, later', async () => null, 'ERR_AUTH_TENANT_MISSING'],
  ['undefined', () => undefined, 'ERR_AUTH_TENANT_INVALID'],
  ['undefined, later', async () => undefined, 'ERR_AUTH_TENANT_INVALID'],
  ['a number', () => 7, 'ERR_AUTH_TENANT_INVALID'],
  ['a list', () => ['lazy-raccoon'], 'ERR_AUTH_TENANT_INVALID'],
  ['a function', () => () => 'lazy-raccoon', 'ERR_AUTH_TENANT_INVALID'],
  ['an object that is no promise', () => withThen('lazy-raccoon'), 'ERR_AUTH_TENANT_INVALID'],
  ['the empty string', () => '', 'ERR_AUTH_TENANT_INVALID'],
  ['*', async () => '*', 'ERR_AUTH_TENANT_INVALID'],
  ['a control character', () => 'lazy-raccoon\n', 'ERR_AUTH_TENANT_INVALID'],
  ['a name too long', () => 'a'.repeat(256), 'ERR_AUTH_TENANT_INVALID'],
  ["another's name", () => 'other', 'ERR_AUTH_TENANT_FORBIDDEN'],
  ['constructor', async () => 'constructor', 'ERR_AUTH_TENANT_FORBIDDEN'],
  ['a rejection without an error', () => Promise.reject(), 'ERR_AUTH_TENANTS_UNAVAILABLE'],
]

function withThen(value: unknown): object {
  return Object.fromEntries([['then', value]])
}

for (const [what, resolve, code] of ANSWERS) {
  test(`resolveTenant gives ${what}: ${code ?? 'let through'}`, async (t) => {
    const app = await guardedApp(t, resolving(resolve))
    const config = { tenant: true, require: 'order:read' } as const
    app.get('/x', { config }, async (request) => request.tenant)
    const response = await app.inject({ url: '/x?tenant=quiet-otter', headers: await as() })
    if (code === null) assert.equal(response.body, 'lazy-raccoon')
    else assertRefused(response, code)
    const retryAfter = code === 'ERR_AUTH_TENANTS_UNAVAILABLE' ? '1' : undefined
    assert.equal(response.headers['retry-after'], retryAfter)
  })
}

/** The type promises a string or null, but functions written in JavaScript may give anything. */
function resolving(resolveTenant: () => unknown): object {
  return { resolveTenant }
}

test('resolveTenant is asked only where the query would be read, and after authentication', async (t) => {
  const asked: string[] = []
  const resolveTenant = (request: { url: string }) => {
    asked.push(request.url)
    return 'lazy-raccoon'
  }
  const app = await guardedApp(t, { resolveTenant })
  app.get('/declared', { config: { tenant: true } }, async (request) => request.tenant)
  app.get('/optional', { config: { tenant: 'optional' } }, async (request) => request.tenant)
  app.get('/undeclared', async () => 'x')
  app.get('/open', { config: { noauth: true } }, async () => 'x')
  app.get('/in/:tenant', { config: { tenant: true } }, async (request) => request.tenant)
  app.get('/maybe/:tenant?', async () => 'never')
  const headers = await as()
  const get = (url: string) => app.inject({ url, headers })
  assert.equal((await get('/declared?tenant=quiet-otter')).body, 'lazy-raccoon')
  assert.equal((await get('/optional')).body, 'lazy-raccoon')
  assert.deepEqual(asked.splice(0), ['/declared?tenant=quiet-otter', '/optional'])

  assert.equal((await get('/in/quiet-otter')).body, 'quiet-otter')
  for (const url of ['/undeclared', '/open', '/maybe', '/unknown', '/in/other']) await get(url)
  assertRefused(await app.inject('/declared'), 'ERR_AUTH_TOKEN_MISSING')
  assert.deepEqual(asked, [])
})

/** An absent tenant counts as in a query. */
for (const [settings, tenant, expected] of [
  [{}, 'optional', 'null'],
  [{}, true, '400 ERR_AUTH_TENANT_MISSING'],
  [{ multitenancy: false }, true, 'null'],
  [{ devMode: true }, true, 'null'],
  [{ devMode: true }, 'required', '400 ERR_AUTH_TENANT_MISSING'],
] as const) {
  test(`resolveTenant gives null with ${JSON.stringify(settings)}, tenant ${tenant}: ${expected}`, async (t) => {
    const app = await guardedApp(t, { ...settings, resolveTenant: () => null })
    app.get('/x', { config: { tenant } }, async (request) => ({ tenant: request.tenant }))
    const response = await app.inject({ url: '/x?tenant=lazy-raccoon', headers: await as() })
    const found = response.statusCode === 200 ? String(response.json().tenant) : outcome(response)
    assert.equal(found, expected)
  })
}

test('with multitenancy off resolveTenant is not asked, but in dev mode it is', async (t) => {
  let asked = 0
  const resolveTenant = () => {
    asked++
    return 'test-tenant'
  }
  for (const [settings, body, count] of [
    [{ multitenancy: false }, 'null', 0],
    [{ multitenancy: false, devMode: true }, '"test-tenant"', 1],
  ] as const) {
    asked = 0
    const app = await guardedApp(t, { ...settings, resolveTenant })
    app.get('/x', { config: { tenant: true } }, async ({ tenant }) => JSON.stringify(tenant))
    assert.equal((await app.inject({ url: '/x', headers: await as() })).body, body)
    assert.equal(asked, count)
  }
})

const ISSUER = authority.issuer

/** Options, the claims of a token, and the user that the function is given. */
const USERS: readonly [
  what: string,
  options: AuthOptions,
  claims: TestUserInfo | null,
  user: unknown,
][] = [
  ['a token', {}, { sub: 'a' }, [ISSUER, 'a', ['lazy-raccoon', 'quiet-otter']]],
  [
    'a token of another shape',
    { mapClaims: ({ resources }) => ({ sub: 'mapped', resources: Object(resources) }) },
    { sub: 'a' },
    [ISSUER, 'a', ['lazy-raccoon', 'quiet-otter']],
  ],
  [
    'a token with rights from a table',
    { resourcesOf: () => ({ '*': ['a:b'], constructor: [] }) },
    { sub: 'a' },
    [ISSUER, 'a', ['constructor']],
  ],
  ['a token without rights', {}, { sub: 'a', resources: {} }, [ISSUER, 'a', []]],
  ['the mock user of dev mode', { devMode: true }, null, [null, 'dev', ['default', 'test-tenant']]],
  ['a guest', {}, null, null],
]

for (const [what, options, claims, user] of USERS) {
  test(`resolveTenant is given who asks: ${what}`, async (t) => {
    const seen: unknown[] = []
    const resolveTenant: ResolveTenant = (_request, who) => {
      seen.push(who && [who.issuer, who.sub, [...who.tenants]], Object.isFrozen(who))
      seen.push('add' in (who?.tenants ?? {}))
      return null
    }
    const app = await guardedApp(t, { ...options, resolveTenant })
    app.get('/x', { config: { tenant: 'optional', guests: true } }, async () => 'x')
    const headers = claims && (await authority.headers({ resources: RIGHTS, ...claims }))
    assert.equal(outcome(await app.inject({ url: '/x', headers: headers ?? {} })), '200')
    assert.deepEqual(seen, [user, true, false])
  })
}
