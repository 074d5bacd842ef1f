import assert from 'node:assert/strict'
import { createHash, X509Certificate } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { createTestAuthority, probe } from '../../lib/entrypoints/testing/index.ts'
import { proofAlgorithms } from '../../lib/identity/jwks/algorithms.ts'
import tenantAuth, { type RouteDeclaration, resourceMetadata } from '../../lib/index.ts'
import { assertUnproved, boundApp } from '../helpers/app/bound-app.ts'
import { as, authority, bareApp, RIGHTS, trusting, untyped } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { documentedApp, documentOf } from '../helpers/documents/documented.ts'
import { selfSigned } from '../helpers/servers/self-signed.ts'
import { boundToken, HOLDER, hashOf, PUBLIC, proofOf, provedBy } from '../helpers/tokens/bound.ts'

const certificate = selfSigned('client.test').cert
const x5t = createHash('sha256').update(new X509Certificate(certificate).raw).digest('base64url')

test('an event says what an admitted token was bound to, and null of all others', async (t) => {
  const events = heard(t, 'decision')
  const app = await boundApp(t, { clientCertificate: () => certificate })
  app.get('/guests/:tenant', { config: { guests: true } }, async () => 'guest')
  const token = await boundToken()
  const jkt = HOLDER.thumbprint
  const cnfs = { 'x5t#S256': x5t }
  const certified = await authority.token({ resources: RIGHTS, cnf: cnfs })
  const both = await authority.token({ resources: RIGHTS, cnf: { ...cnfs, jkt } })
  const used = provedBy(HOLDER, token)
  const foreign = provedBy(HOLDER, token, { url: '/t/foreign' })
  const rows: [bound: string | null, url: string, headers: object][] = [
    ['dpop', '/me', used],
    ['dpop', '/me', provedBy(HOLDER, token)],
    ['dpop', '/me', provedBy(HOLDER, both)],
    ['mtls', '/me', { authorization: `Bearer ${certified}` }],
    [null, '/me', await as()],
    [null, '/me', used],
    [null, '/me', { authorization: `Bearer ${token}` }],
    [null, '/me', { authorization: `DPoP ${token}`, dpop: 'x' }],
    [null, '/t/foreign', foreign],
    [null, '/guests', {}],
    [null, '/guests/foreign', provedBy(HOLDER, token, { url: '/guests/foreign' })],
    ['dpop', '/guests', provedBy(HOLDER, token, { url: '/guests' })],
  ]
  for (const [bound, url, headers] of rows) {
    await app.inject({ url, headers: { ...headers } })
    const event = events.pop()
    assert.ok(event, 'there is no event')
    assert.equal(event.bound, bound, `${url} ${event.reason}`)
  }
  assert.deepEqual(events, [])
})

test('where the binding is not checked, events say nothing of it', async (t) => {
  const events = heard(t, 'decision')
  const app = await boundApp(t, { confirmation: 'ignore' })
  await app.inject({ url: '/me', headers: provedBy(HOLDER, await boundToken()) })
  assert.equal(events[0]?.outcome, 'admitted')
  assert.equal(events[0]?.bound, null)
})

test('work without a request is bound to nobody', async (t) => {
  const events = heard(t, 'decision')
  const app = await boundApp(t, { confirmation: 'require', asyncContext: true })
  await app.ready()
  await app.authService.actAs({ sub: 'job', tenant: 'acme', resources: [] }, () => 'done')
  const shown = events.map(({ outcome, bound }) => [outcome, bound])
  assert.deepEqual(shown, [['internal', null]])
})

test('the figures count the proofs that are held, and those that came again', async (t) => {
  const app = await boundApp(t)
  await app.ready()
  const { authService } = app
  assert.deepEqual(authService.stats().proofs, { size: 0, replayed: 0 })
  const headers = provedBy(HOLDER, await boundToken())
  for (const _ of [1, 2, 3]) await app.inject({ url: '/me', headers })
  await app.inject({ url: '/me', headers: { ...headers, dpop: 'x' } })
  await app.inject({ url: '/me', headers: await as() })
  assert.deepEqual(authService.stats().proofs, { size: 1, replayed: 2 })
})

test('a request that comes to the not-found handler after its refusal is asked for once', async (t) => {
  const asked: string[] = []
  const proofSeen = (key: string) => {
    asked.push(key)
    return asked.length === 1
  }
  const app = await boundApp(t, { proofSeen })
  app.setErrorHandler((_error, _request, reply) => void reply.callNotFound())
  app.setNotFoundHandler(async (_request, reply) => reply.code(404).send('none'))
  const headers = provedBy(HOLDER, await boundToken())
  assert.equal((await app.inject({ url: '/me', headers })).statusCode, 200)
  await app.inject({ url: '/me', headers })
  assert.equal(asked.length, 2)
  assert.deepEqual(app.authService.stats().proofs, { size: 0, replayed: 1 })
})

const RESOURCE = 'https://api.test/mcp'
const certificates = { clientCertificate: () => null }

/** Options, and the members of the document that speak of bound tokens. */
const METADATA: readonly [what: string, options: object, members: object][] = [
  ['refuse', { confirmation: 'refuse' }, {}],
  ['ignore', { confirmation: 'ignore' }, {}],
  ['check', {}, { dpop_signing_alg_values_supported: proofAlgorithms }],
  [
    'check with certificates',
    certificates,
    {
      dpop_signing_alg_values_supported: proofAlgorithms,
      tls_client_certificate_bound_access_tokens: true,
    },
  ],
  [
    'require',
    { confirmation: 'require' },
    {
      dpop_signing_alg_values_supported: proofAlgorithms,
      dpop_bound_access_tokens_required: true,
    },
  ],
  [
    'require with certificates',
    { confirmation: 'require', ...certificates },
    {
      dpop_signing_alg_values_supported: proofAlgorithms,
      tls_client_certificate_bound_access_tokens: true,
    },
  ],
]

for (const [what, options, members] of METADATA) {
  test(`the metadata of a resource with ${what} names ${Object.keys(members).join() || 'nothing'}`, async (t) => {
    const app = bareApp(t)
    const all = { confirmation: 'check', resource: RESOURCE, ...options }
    await app.register(tenantAuth, trusting(untyped(all)))
    await app.register(resourceMetadata)
    const response = await app.inject('/.well-known/oauth-protected-resource/mcp')
    const document: Record<string, unknown> = response.json()
    const found = Object.entries(document).filter(
      ([name, value]) => /dpop|certificate/.test(name) && value !== false,
    )
    assert.deepEqual(Object.fromEntries(found), members)
  })
}

/** The schemes of a document, by the names of HTTP in lower case. */
async function schemesOf(t: TestContext, auth: object, config: RouteDeclaration = {}) {
  const app = await documentedApp(
    t,
    (own) => own.get('/menus', { config: { tenant: false, ...config } }, async () => 'ok'),
    { auth: untyped(auth) },
  )
  const { components, paths } = documentOf(app)
  const schemes = Object.entries(components['securitySchemes'] ?? {}).map(
    ([name, scheme]) => [name, String(Object(scheme).scheme).toLowerCase()] as const,
  )
  const security = paths['/menus']?.['get']?.security ?? []
  const schemeOf = (name: string) => schemes.find(([key]) => key === name)?.[1] ?? name
  return {
    declared: schemes.map(([, scheme]) => scheme).sort(),
    used: security.flatMap((each) => Object.keys(each).map(schemeOf)).sort(),
  }
}

test('the document of the API names the schemes that work', async (t) => {
  const publicUrl = PUBLIC
  const check = await schemesOf(t, { confirmation: 'check', publicUrl })
  assert.deepEqual(check, { declared: ['bearer', 'dpop'], used: ['bearer', 'dpop'] })
  const refuse = await schemesOf(t, {})
  assert.deepEqual(refuse, { declared: ['bearer'], used: ['bearer'] })
  const needed = await schemesOf(t, { confirmation: 'require', publicUrl })
  assert.deepEqual(needed.used, ['dpop'])
  const route = await schemesOf(
    t,
    { confirmation: 'check', publicUrl },
    { confirmation: 'require' },
  )
  assert.deepEqual(route.used, ['dpop'])
})

/** The contract's function, whether it is there or not. */
async function holderOf(of: object, user: object, options?: object) {
  const bound: unknown = Reflect.get(of, 'bound')
  assert.equal(typeof bound, 'function', 'authority.bound is missing')
  const holder: { headers(method: string, url: string): unknown } = await Reflect.apply(
    Object(bound),
    of,
    [user, options],
  )
  return async (method: string, url: string): Promise<Record<string, string>> =>
    Object(await holder.headers(method, url))
}

test('a test authority gives bound users, with fresh proofs', async (t) => {
  const own = await createTestAuthority()
  const app = bareApp(t)
  const options = { ...own.options, confirmation: 'require', publicUrl: PUBLIC }
  await app.register(tenantAuth, untyped(options))
  app.get('/t/:tenant', async ({ tenant }) => tenant)
  app.post('/t/:tenant', async ({ tenant }) => tenant)
  const headers = await holderOf(own, { resources: { acme: [] } })
  const url = `${PUBLIC}/t/acme`
  for (const method of ['GET', 'POST', 'GET'] as const) {
    const first = await headers(method, url)
    assert.equal(outcome(await app.inject({ method, url: '/t/acme', headers: first })), '200')
    const again = await app.inject({ method, url: '/t/acme', headers: first })
    assertUnproved(again, 'invalid_dpop_proof')
  }
  const elsewhere = await headers('GET', `${PUBLIC}/t/other`)
  assertUnproved(await app.inject({ url: '/t/acme', headers: elsewhere }), 'invalid_dpop_proof')
  const other = await holderOf(own, { resources: { acme: [] } })
  const [mine, theirs] = [await headers('GET', url), await other('GET', url)]
  const mixed = { ...mine, dpop: `${theirs['dpop'] ?? theirs['DPoP']}` }
  assert.equal((await app.inject({ url: '/t/acme', headers: mixed })).statusCode, 401)
})

test('a bound user of an authority may have an expired token', async (t) => {
  const own = await createTestAuthority()
  const app = bareApp(t)
  const options = { ...own.options, confirmation: 'check', publicUrl: PUBLIC }
  await app.register(tenantAuth, untyped(options))
  app.get('/me', async () => 'ok')
  const headers = await holderOf(own, {}, { expiresIn: -60 })
  const response = await app.inject({ url: '/me', headers: await headers('GET', `${PUBLIC}/me`) })
  assertUnproved(response, 'invalid_token')
})

test('a probe proves its personas where binding is required, and asks as one that does not', async (t) => {
  const asked: string[] = []
  const proofSeen = (key: string) => asked.push(key) > 0
  for (const confirmation of ['require', 'check'] as const) {
    const own = await createTestAuthority()
    const app = bareApp(t)
    const options = { ...own.options, confirmation, publicUrl: PUBLIC, proofSeen }
    await app.register(tenantAuth, untyped(options))
    const config: RouteDeclaration = { require: 'order:read' }
    const handler = async () => assert.fail('a handler ran')
    app.get('/orders/:tenant', { config }, handler)
    app.get('/pay/:tenant', { config: { ...config, confirmation: 'require' } }, handler)
    await app.ready()
    const routes = await probe(app, own)
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      const { url, stranger, expired, foreigner, without } = route
      assert.deepEqual([stranger, expired, foreigner, without], [401, 401, 403, 403], url)
      const isRequired = confirmation === 'require' || url.startsWith('/pay')
      const unproved: unknown = Reflect.get(route, 'unproved') ?? null
      assert.equal(unproved, isRequired ? 401 : null, url)
    }
  }
  assert.deepEqual(asked, [])
})

test('a proof that a request brings to a probed application is noted as ever', async (t) => {
  const asked: string[] = []
  const app = await boundApp(t, { proofSeen: (key: string) => asked.push(key) > 0 })
  const token = await boundToken()
  const dpop = proofOf(HOLDER, { token, claims: { jti: 'one-id' } })
  await app.inject({ url: '/me', headers: { authorization: `DPoP ${token}`, dpop } })
  assert.deepEqual(asked, [`${HOLDER.thumbprint}.${hashOf('one-id')}`])
})
