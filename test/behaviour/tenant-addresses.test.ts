import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { type TestContext, test } from 'node:test'
import { createTestAuthority, type TestTokenOptions } from '../../lib/entrypoints/testing/index.ts'
import {
  type AuthOptions,
  AuthService,
  authorizationOf,
  currentAuthorization,
  type DecisionEvent,
  refusalOf,
} from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { authority, bareApp, guardedApp } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

const folder = tempFolder()
const resource = 'https://api.test/:tenant/mcp'
const at = (name: string) => resource.replace(':tenant', encodeURIComponent(name))
const metadata = (name: string) =>
  `resource_metadata="https://api.test/.well-known/oauth-protected-resource/${encodeURIComponent(name)}/mcp"`

const [OK, INVALID] = ['200', '401 ERR_AUTH_TOKEN_INVALID']
const FORBIDDEN = '403 ERR_AUTH_TENANT_FORBIDDEN'
const { publicKeys, issuer } = authority.options
const trusted: AuthOptions = { publicKeys, issuer, resource }
const RIGHTS = { acme: ['menu:read'], brook: ['menu:read'], '*': ['a:b'] }

async function start(t: TestContext, options: AuthOptions = {}, server = {}) {
  const app = bareApp(t, server)
  await new AuthService({ ...trusted, ...options }).install(app)
  app.get('/:tenant/mcp', { config: { authorization: true } }, async ({ authorization }) => ({
    tenant: authorization.tenant,
  }))
  app.get('/:tenant/in/:other', { config: { authorization: true } }, async (request) => {
    const { other } = Object(request.params)
    return { tenant: request.authorization.in(String(other)).tenant }
  })
  app.get('/query', { config: { tenant: true } }, async ({ tenant }) => ({ tenant }))
  app.get('/maybe', { config: { tenant: 'optional' } }, async ({ tenant }) => ({ tenant }))
  app.get('/whole', async () => 'whole')
  app.get('/:tenant/guests', { config: { guests: true, userInfo: true } }, async (request) => ({
    sub: request.userInfo?.sub ?? null,
  }))
  return app
}

const tokenFor = (audience: TestTokenOptions['audience'], resources: object = RIGHTS) =>
  authority.headers({ sub: 'alice', resources: { ...resources } }, { audience })

/** What a token may name in `aud`, and the outcome in the tenant `acme`. */
const AUDIENCES: readonly [what: string, aud: string | string[] | undefined, outcome: string][] = [
  ['its address', at('acme'), OK],
  ['its address in a list', ['other', at('acme')], OK],
  ['its address among two', [at('brook'), at('acme')], OK],
  ['an encoded spelling of its address', 'https://api.test/%61c%6De/mcp', OK],
  ['the address of another tenant', at('brook'), INVALID],
  ['another API', 'https://api.test/acme', INVALID],
  ['none', undefined, INVALID],
  ['an empty list', [], INVALID],
  ['the pattern', resource, INVALID],
  ['another case of the name', at('ACME'), INVALID],
  ['another case of the host', 'https://API.test/acme/mcp', INVALID],
  ['another case of the scheme', 'HTTPS://api.test/acme/mcp', INVALID],
  ['plain http', 'http://api.test/acme/mcp', INVALID],
  ['the default port', 'https://api.test:443/acme/mcp', INVALID],
  ['a user', 'https://me@api.test/acme/mcp', INVALID],
  ['a trailing slash', `${at('acme')}/`, INVALID],
  ['a query', `${at('acme')}?a=b`, INVALID],
  ['a fragment', `${at('acme')}#a`, INVALID],
  ['a doubled encoding', 'https://api.test/%2561cme/mcp', INVALID],
  ['a slash more', 'https://api.test//acme/mcp', INVALID],
  ['a step', 'https://api.test/brook/../acme/mcp', INVALID],
  ['an encoded step', 'https://api.test/brook%2f..%2facme/mcp', INVALID],
  ['a backslash', 'https://api.test/acme\\mcp/mcp', INVALID],
  ['a query in the segment', 'https://api.test/acme?/mcp', INVALID],
  ['a space after', `${at('acme')} `, INVALID],
  ['a space before', ` ${at('acme')}`, INVALID],
  ['an address in a text', `${at('acme')},${at('acme')}`, INVALID],
  ['an empty name', 'https://api.test//mcp', INVALID],
  ['a broken escape', 'https://api.test/acme%/mcp', INVALID],
  ['two dots', at('..'), INVALID],
  ['half of the address', 'https://api.test/mcp', INVALID],
]

for (const size of [0, 100]) {
  for (const [what, aud, expected] of AUDIENCES) {
    test(`a token that names ${what} leads to ${expected}${size ? ', from the cache too' : ''}`, async (t) => {
      const app = await start(t, { tokenCacheSize: size })
      const headers = await tokenFor(aud)
      for (const _ of [1, 2]) {
        const response = await app.inject({ url: '/acme/mcp', headers })
        assert.equal(outcome(response), expected)
        if (expected === OK) continue
        const challenge = `Bearer realm="api", error="invalid_token", ${metadata('acme')}`
        assert.equal(response.headers['www-authenticate'], challenge)
      }
    })
  }
}

test('a malformed audience opens no tenant, though one item is its address', async (t) => {
  const app = await start(t)
  for (const aud of [[at('acme'), 7], [[at('acme')]], { 0: at('acme') }, [at('acme'), null]]) {
    const headers = await authority.headers({ resources: RIGHTS, aud }, { audience: undefined })
    const response = await app.inject({ url: '/acme/mcp', headers })
    assert.equal(outcome(response), INVALID, JSON.stringify(aud))
  }
})

test('a tenant that the token is not for is 401 for members, strangers and superusers, known or not', async (t) => {
  const superuserResource = 'authz:superuser'
  const app = await start(t, { superuserResource, tenants: ['acme', 'brook'] })
  const superuser = { '*': [superuserResource], acme: [] }
  for (const resources of [RIGHTS, superuser, {}]) {
    const headers = await tokenFor(at('brook'), resources)
    for (const tenant of ['acme', 'nobody']) {
      const response = await app.inject({ url: `/${tenant}/mcp`, headers })
      assert.equal(outcome(response), INVALID)
      const challenge = `Bearer realm="api", error="invalid_token", ${metadata(tenant)}`
      assert.equal(response.headers['www-authenticate'], challenge)
    }
  }
})

test('whoever has the address needs the membership as ever, and the tenant must exist', async (t) => {
  const app = await start(t, { tenants: ['acme', 'brook'] })
  const get = async (tenant: string, resources: object) => {
    const headers = await tokenFor(at(tenant), resources)
    return outcome(await app.inject({ url: `/${tenant}/mcp`, headers }))
  }
  assert.equal(await get('acme', {}), FORBIDDEN)
  assert.equal(await get('acme', { brook: [], '*': ['a:b'] }), FORBIDDEN)
  assert.equal(await get('nobody', { nobody: [] }), '404 ERR_AUTH_TENANT_UNKNOWN')
})

test('refusalOf has the user whose token names an address of a tenant for which it may not act', async (t) => {
  const app = await start(t)
  let refused: unknown
  app.addHook('onResponse', async (request) => {
    refused = refusalOf(request)
  })
  const headers = await tokenFor(at('acme'), { brook: [] })
  assert.equal(outcome(await app.inject({ url: '/acme/mcp', headers })), FORBIDDEN)
  const { userInfo, tenant } = Object(refused).authorization
  assert.deepEqual([userInfo.sub, tenant], ['alice', null])
})

test('in() of a tenant that the token is not for is 403, for superusers too', async (t) => {
  const superuserResource = 'authz:superuser'
  const app = await start(t, { superuserResource })
  const get = async (other: string, audience: string | string[], resources = RIGHTS) => {
    const headers = await tokenFor(audience, resources)
    return outcome(await app.inject({ url: `/acme/in/${other}`, headers }))
  }
  const superuser = { ...RIGHTS, '*': [superuserResource] }
  assert.equal(await get('brook', at('acme')), FORBIDDEN)
  assert.equal(await get('brook', at('acme'), superuser), FORBIDDEN)
  assert.equal(await get('brook', [at('acme'), at('brook')]), OK)
  assert.equal(await get('other', [at('acme'), at('other')]), FORBIDDEN)
  assert.equal(await get('acme', at('acme')), OK)
})

/** Places without a tenant, and what they answer to whom the audience lets in. */
const WHOLE: readonly [url: string, expected: string][] = [
  ['/whole', OK],
  ['/maybe', OK],
  ['/query', '400 ERR_AUTH_TENANT_MISSING'],
]

for (const [url, expected] of WHOLE) {
  test(`${url} is for tokens that name audience, and its challenges name no document`, async (t) => {
    const apps = [await start(t), await start(t, { audience: 'lunch' })]
    const got = async (index: number, audience: string | string[]) => {
      const response = await apps[index]?.inject({ url, headers: await tokenFor(audience) })
      assert.ok(response, 'an answer')
      assert.doesNotMatch(String(response.headers['www-authenticate']), /resource_metadata/)
      return outcome(response)
    }
    const missing = expected === OK ? INVALID : expected
    assert.equal(await got(0, at('acme')), missing)
    assert.equal(await got(0, 'lunch'), INVALID)
    assert.equal(await got(1, at('acme')), missing)
    assert.equal(await got(1, 'lunch'), expected)
    assert.equal(await got(1, ['lunch', at('acme')]), expected)
    const stranger = await apps[1]?.inject(url)
    assert.equal(stranger?.headers['www-authenticate'], 'Bearer realm="api"')
  })
}

test('a token that names audience alone opens no tenant', async (t) => {
  const app = await start(t, { audience: 'lunch' })
  const headers = await tokenFor('lunch')
  assert.equal(outcome(await app.inject({ url: '/acme/mcp', headers })), INVALID)
  assert.equal(outcome(await app.inject({ url: '/query?tenant=acme', headers })), INVALID)
})

test('the audience of an issuer is for routes without a tenant too', async (t) => {
  const app = bareApp(t)
  const issuers = [{ issuer, publicKeys, tenants: '*', audience: 'own' }] as const
  await new AuthService({ issuers, resource }).install(app)
  app.get('/:tenant/mcp', async () => 'x')
  app.get('/whole', async () => 'x')
  const got = async (url: string, audience: string) =>
    outcome(await app.inject({ url, headers: await tokenFor(audience) }))
  assert.equal(await got('/acme/mcp', 'own'), INVALID)
  assert.equal(await got('/acme/mcp', at('acme')), OK)
  assert.equal(await got('/whole', 'own'), OK)
  assert.equal(await got('/whole', at('acme')), INVALID)
})

test('a tenant in the query, and one of resolveTenant, has its address too', async (t) => {
  const resolved = await start(t, {
    resolveTenant: ({ headers }) => headers['x-tenant']?.toString() ?? null,
  })
  const app = await start(t)
  for (const [tenant, expected] of [
    ['acme', OK],
    ['brook', INVALID],
  ] as const) {
    const headers = { ...(await tokenFor(at('acme'))), 'x-tenant': tenant }
    for (const [each, url] of [
      [app, `/query?tenant=${tenant}`],
      [resolved, '/query'],
    ] as const) {
      const response = await each.inject({ url, headers })
      assert.equal(outcome(response), expected)
      const challenge = String(response.headers['www-authenticate'])
      assert.equal(challenge.includes(metadata(tenant)), expected === INVALID)
    }
  }
})

/** Names, and how they stand in a request. */
const NAMES = ['a/b', 'a b', 'café', 'Ü%2F', '%2e', 'a:b', ':tenant', "it's*", '日本', '...', '😀']

for (const name of NAMES) {
  test(`the tenant ${name} has an address of its own`, async (t) => {
    const app = await start(t, {}, { routerOptions: { maxParamLength: 999 } })
    const url = `/${encodeURIComponent(name)}/mcp`
    const get = async (aud: string) =>
      app.inject({ url, headers: await tokenFor(aud, { [name]: [] }) })
    assert.deepEqual((await get(at(name))).json(), { tenant: name })
    const refused = await get(at('acme'))
    assert.equal(outcome(refused), INVALID)
    assert.ok(String(refused.headers['www-authenticate']).endsWith(metadata(name)), 'its document')
    const stranger = await app.inject(url)
    assert.equal(stranger.headers['www-authenticate'], `Bearer realm="api", ${metadata(name)}`)
  })
}

for (const name of ['.', '..']) {
  test(`${name} has no address: 401, and a challenge without a document`, async (t) => {
    const app = await start(t)
    const headers = await tokenFor([at(name), at('acme')], { [name]: [] })
    for (const url of [`/query?tenant=${name}`, `/${name.replaceAll('.', '%2e')}/mcp`]) {
      const response = await app.inject({ url, headers })
      // A client of Node may take the steps itself.
      if (response.statusCode === 404) continue
      assert.equal(outcome(response), INVALID)
      const challenge = 'Bearer realm="api", error="invalid_token"'
      assert.equal(response.headers['www-authenticate'], challenge)
    }
  })
}

test('a guest needs no address, and a token for another tenant is no guest', async (t) => {
  const app = await start(t)
  assert.deepEqual((await app.inject('/acme/guests')).json(), { sub: null })
  const get = async (audience: string, resources: object) =>
    app.inject({ url: '/acme/guests', headers: await tokenFor(audience, resources) })
  assert.deepEqual((await get(at('acme'), RIGHTS)).json(), { sub: 'alice' })
  assert.deepEqual((await get(at('acme'), {})).json(), { sub: null })
  assert.equal(outcome(await get(at('brook'), RIGHTS)), INVALID)
})

test('a refusal of the address names no user in event and refusalOf, and both texts at level debug', async (t) => {
  const { logger, lines } = logLines('debug')
  const app = await start(t, {}, { logger })
  const events: DecisionEvent[] = []
  const heard = (event: unknown) => events.push(Object(event))
  channel('fastify-tenant-auth:decision').subscribe(heard)
  t.after(() => channel('fastify-tenant-auth:decision').unsubscribe(heard))
  let refused: ReturnType<typeof refusalOf> = null
  app.addHook('onResponse', async (request) => {
    refused = refusalOf(request)
    assert.equal(authorizationOf(request), null)
  })
  await app.inject({ url: '/acme/mcp', headers: await tokenFor(at('brook')) })
  const [event] = events
  assert.deepEqual(
    [event?.code, event?.sub, event?.tenant, event?.reason],
    ['ERR_AUTH_TOKEN_INVALID', null, 'acme', 'the token is not for the address of this tenant'],
  )
  assert.deepEqual([Object(refused).authorization, Object(refused).tenant], [null, 'acme'])
  assert.deepEqual(lines('request refused')[0]?.['mismatch'], {
    of: 'aud',
    expected: JSON.stringify(at('acme')),
    unverified: `[${JSON.stringify(at('brook'))}]`,
  })
})

test('an opaque token counts in the tenants that its answer names', async (t) => {
  const answers = new Map<string, string | undefined>([
    ['key-1', at('acme')],
    ['key-2', at('brook')],
    ['key-3', undefined],
  ])
  const app = await start(t, {
    opaqueToken: async (token) => ({
      ...{ iss: issuer, sub: token, resources: RIGHTS },
      ...(answers.get(token) && { aud: answers.get(token) }),
    }),
  })
  const get = async (token: string) =>
    outcome(await app.inject({ url: '/acme/mcp', headers: { authorization: `Bearer ${token}` } }))
  for (const _ of [1, 2]) {
    assert.deepEqual([await get('key-1'), await get('key-2')], [OK, INVALID])
    assert.equal(await get('key-3'), INVALID)
  }
})

test('resourcesOf gives rights, and no address', async (t) => {
  const app = await start(t, { resourcesOf: () => ({ acme: [], brook: [] }) })
  const headers = await tokenFor(at('brook'))
  assert.equal(outcome(await app.inject({ url: '/brook/mcp', headers })), OK)
  assert.equal(outcome(await app.inject({ url: '/acme/mcp', headers })), INVALID)
  assert.equal(outcome(await app.inject({ url: '/brook/in/acme', headers })), FORBIDDEN)
})

test('in dev mode no token is read, so every address is right', async (t) => {
  const app = await guardedApp(t, { devMode: true, issuer, resource })
  app.get('/:tenant/mcp', async () => 'x')
  app.get('/whole', async () => 'x')
  assert.equal(outcome(await app.inject('/test-tenant/mcp')), OK)
  assert.equal(outcome(await app.inject('/whole')), OK)
})

test('a proof is for the origin of the addresses, where publicUrl is not given', async (t) => {
  const app = await start(t, { confirmation: 'check' })
  const alice = await authority.bound({ resources: RIGHTS }, { audience: at('acme') })
  const get = async (url: string, origin = 'https://api.test') =>
    outcome(await app.inject({ url, headers: { ...alice.headers('GET', `${origin}${url}`) } }))
  assert.equal(await get('/acme/mcp'), OK)
  assert.equal(await get('/brook/mcp'), INVALID)
  assert.equal(await get('/acme/mcp', 'https://other.test'), INVALID)
})

test('the longest names have addresses too, and the INI file may give the pattern', async (t) => {
  const configFile = folder.write(`[auth]\nissuer = ${issuer}\nresource = ${resource}\n`)
  const app = bareApp(t)
  await new AuthService({ configFile, publicKeys }).install(app)
  app.get('/query', { config: { tenant: true } }, async () => 'x')
  for (const tenant of ['日'.repeat(255), '😀'.repeat(127)]) {
    const headers = await tokenFor(at(tenant), { [tenant]: [] })
    const url = `/query?tenant=${encodeURIComponent(tenant)}`
    assert.equal(outcome(await app.inject({ url, headers })), OK)
  }
})

test('actAs needs no address', async (t) => {
  const app = await start(t, { asyncContext: true })
  await app.ready()
  const who = { sub: 'job:bills', tenant: 'acme', resources: ['a:b'] }
  assert.equal(await app.authService.actAs(who, () => currentAuthorization()?.tenant), 'acme')
})

test('thousands of audiences in one token count, and in no tenant beside', async (t) => {
  const app = await start(t, { maxTokenLength: 2 ** 20, tokenCacheSize: 10 })
  const many = Array.from({ length: 10_000 }, (_, index) => at(`t${index}`))
  const { authorization } = await tokenFor(many, { t9999: [], acme: [] })
  const get = async (url: string) => outcome(await app.inject({ url, headers: { authorization } }))
  for (const _ of [1, 2]) {
    assert.deepEqual([await get('/t9999/mcp'), await get('/acme/mcp')], [OK, INVALID])
  }
})

test('a pinned issuer cannot give an address away: its tokens count in its own tenants', async (t) => {
  const other = await createTestAuthority({ issuer: 'https://other.test' })
  const app = bareApp(t)
  const entries = [authority, other].map(({ issuer: each, publicKeys: keys }, index) => ({
    issuer: each,
    publicKeys: keys,
    tenants: [['acme', 'brook'][index] ?? ''],
  }))
  await new AuthService({ issuers: entries, resource }).install(app)
  app.get('/:tenant/mcp', async () => 'x')
  const headers = await other.headers(
    { resources: RIGHTS },
    { audience: [at('acme'), at('brook')] },
  )
  assert.equal(outcome(await app.inject({ url: '/acme/mcp', headers })), FORBIDDEN)
  assert.equal(outcome(await app.inject({ url: '/brook/mcp', headers })), OK)
})

test('issuers of a function need no audience beside the addresses', async (t) => {
  const app = bareApp(t)
  const issuers = () => ({ publicKeys, tenants: '*' }) as const
  await new AuthService({ issuers, resource }).install(app)
  app.get('/:tenant/mcp', async () => 'x')
  const got = async (audience: string) =>
    outcome(await app.inject({ url: '/acme/mcp', headers: await tokenFor(audience) }))
  assert.deepEqual([await got(at('acme')), await got(at('brook'))], [OK, INVALID])
})

/** Addresses that are no pattern, and what tenantParameter is. */
const NO_PATTERNS: readonly [address: string, tenantParameter?: string][] = [
  ['https://api.test/:tenant/:tenant'],
  ['https://api.test/:tenant/a/:id'],
  ['https://api.test/:org/mcp'],
  ['https://api.test/:tenant/mcp', 'org'],
  ['https://api.test/:Tenant/mcp'],
  ['https://api.test/:tenantId/mcp'],
  ['https://api.test/x:tenant/mcp'],
  ['https://api.test/:tenant.json'],
  ['https://api.test/:tenant-mcp'],
  ['https://api.test/:tenant(a)/mcp'],
  ['https://api.test/::tenant/mcp'],
  ['https://api.test/:/mcp'],
]

for (const [address, tenantParameter] of NO_PATTERNS) {
  test(`${address} stops the boot where the tenant is ${tenantParameter ?? 'tenant'}`, () => {
    const options = { ...trusted, resource: address, ...(tenantParameter && { tenantParameter }) }
    const expected = `resource: expected no parameter but one whole segment :${tenantParameter ?? 'tenant'}, found "${address}"`
    assert.throws(() => new AuthService(options), configError(expected))
  })
}

test('an audience that is the address of a tenant stops the boot, of an issuer too', () => {
  const found = `audience: expected none of the addresses of resource, found "${at('acme')}"`
  const options = { ...trusted, audience: ['menus', at('acme')] }
  assert.throws(() => new AuthService(options), configError(found))
  const issuers = [{ issuer, publicKeys, tenants: '*', audience: at('acme') }] as const
  assert.throws(() => new AuthService({ issuers, resource }), configError(`issuers[0].${found}`))
  assert.ok(new AuthService({ ...trusted, audience: 'https://api.test/menus' }), 'another address')
})

test('and is no answer of a function in issuers', async (t) => {
  const log = logLines()
  const app = bareApp(t, { logger: log.logger })
  const audience = at('acme')
  const issuers = () => ({ publicKeys, tenants: '*' as const, audience })
  await new AuthService({ issuers, resource }).install(app)
  app.get('/me', async () => 'ok')
  const response = await app.inject({ url: '/me', headers: await tokenFor(audience) })
  assert.equal(outcome(response), '503 ERR_AUTH_ISSUERS_UNAVAILABLE')
  assert.match(log.raw.join(''), /audience: expected none of the addresses of resource/)
})

test('the parameter may have another name, and its segment may be anywhere', async (t) => {
  for (const [pattern, address] of [
    ['https://api.test/v1/orgs/:org', 'https://api.test/v1/orgs/acme'],
    ['https://api.test/:org', 'https://api.test/acme'],
    ['http://localhost:1/:org/a:b', 'http://localhost:1/acme/a:b'],
  ] as const) {
    const app = bareApp(t)
    const options = { ...trusted, resource: pattern, tenantParameter: 'org' }
    await new AuthService(options).install(app)
    app.get('/x/:org', async () => 'x')
    const headers = await tokenFor(address)
    assert.equal(outcome(await app.inject({ url: '/x/acme', headers })), OK)
    assert.equal(outcome(await app.inject({ url: '/x/brook', headers })), INVALID)
  }
})

test('a caller without a request counts in the tenants only whose addresses its token names', async (t) => {
  const service = new AuthService({ ...trusted, audience: 'whole', superuserResource: 'root:all' })
  await service.install(bareApp(t))
  const user = { resources: { acme: [], brook: [], '*': ['root:all'] } }
  const statuses = async (audience: string[], tenants: (string | null)[]) => {
    const token = await authority.token(user, { audience })
    const calls = tenants.map((tenant) => service.authenticate({ token, tenant }))
    return (await Promise.allSettled(calls)).map((call) =>
      call.status === 'fulfilled' ? 200 : `${call.reason.statusCode} ${call.reason.code}`,
    )
  }
  const tenants = ['acme', 'brook', null]
  assert.deepEqual(await statuses([at('acme')], tenants), [200, INVALID, INVALID])
  assert.deepEqual(await statuses([at('brook'), 'whole'], tenants), [INVALID, 200, 200])
})
