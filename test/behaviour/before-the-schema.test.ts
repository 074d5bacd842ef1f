import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp } from '../helpers/app/guarded-app.ts'
import { heard } from '../helpers/app/heard.ts'
import { outcome } from '../helpers/app/refusals.ts'

/** Schemas that change `tenant` after the decision. */
const SCHEMAS: readonly [what: string, schema: object][] = [
  ['strips it', { type: 'object', additionalProperties: false, properties: {} }],
  [
    'has another default',
    { type: 'object', properties: { tenant: { type: 'string', default: 'quiet-otter' } } },
  ],
  ['coerces it to a number', { type: 'object', properties: { tenant: { type: ['array'] } } }],
  [
    'coerces it to a list',
    { type: 'object', properties: { tenant: { type: 'array', items: { type: 'string' } } } },
  ],
]

for (const [what, schema] of SCHEMAS) {
  test(`a query schema that ${what} changes nothing in the decision`, async (t) => {
    const app = await guardedApp(t)
    const config = { tenant: true, resources: true } as const
    app.get('/x', { config, schema: { querystring: schema } }, async (request) => ({
      tenant: request.tenant,
      resources: request.resources,
    }))
    const headers = await as()
    const get = (query: string) => app.inject({ url: `/x${query}`, headers })
    assert.deepEqual((await get('?tenant=lazy-raccoon')).json(), {
      tenant: 'lazy-raccoon',
      resources: ['menu:read', 'order:read', 'order:cancel'],
    })
    assert.equal(outcome(await get('')), '400 ERR_AUTH_TENANT_MISSING')
    assert.equal(outcome(await get('?tenant=a')), '403 ERR_AUTH_TENANT_FORBIDDEN')
    assert.equal(outcome(await get('?tenant=1&tenant=2')), '400 ERR_AUTH_TENANT_INVALID')
  })

  test(`a query schema that ${what} changes nothing in a decision that is made anew`, async (t) => {
    const { issuer, audience, publicKeys } = authority
    const tokenTypes = ['at+jwt']
    const rules = { audience, publicKeys, tenants: '*' as const, tokenTypes }
    const app = bareApp(t)
    await app.register(tenantAuth, { issuers: () => ({ ...rules, tokenTypes: [...tokenTypes] }) })
    const url = '/x?tenant=lazy-raccoon'
    app.get('/x', { config: { tenant: true } }, async () => 'ok')
    /** The issuer is replaced while the body comes. */
    const preParsing = async () => {
      tokenTypes.push('JWT')
      app.authService.forget({ issuer })
      assert.equal(outcome(await app.inject({ url, headers: await as() })), '200')
    }
    const schemas = { schema: { querystring: schema }, preParsing }
    app.post('/x', { config: { tenant: true }, ...schemas }, async ({ tenant }) => tenant)
    app.post('/y', { config: { tenant: 'optional' }, ...schemas }, async ({ tenant }) => ({
      tenant,
    }))
    const headers = await as({ 'lazy-raccoon': [], 'quiet-otter': [] }, { sub: 'bob' })
    const post = (to: string) => app.inject({ method: 'POST', url: to, headers, payload: {} })
    assert.equal((await post(url)).body, 'lazy-raccoon')
    assert.deepEqual((await post('/y?tenant=lazy-raccoon')).json(), { tenant: 'lazy-raccoon' })
    assert.deepEqual((await post('/y')).json(), { tenant: null })
  })

  test(`a schema of the parameters that ${what} changes nothing in the decision`, async (t) => {
    const app = await guardedApp(t)
    const config = { tenant: true, require: 'order:read' } as const
    app.get('/:tenant/x', { config, schema: { params: schema } }, async (request) => ({
      tenant: request.tenant,
    }))
    const headers = await as()
    const get = (url: string) => app.inject({ url, headers })
    assert.deepEqual((await get('/lazy-raccoon/x')).json(), { tenant: 'lazy-raccoon' })
    assert.equal(outcome(await get('/quiet-otter/x')), '403 ERR_AUTH_RESOURCE_MISSING')
    assert.equal(outcome(await get('/other/x')), '403 ERR_AUTH_TENANT_FORBIDDEN')
  })
}

test('a tenant that looks like a number or a boolean stays a string', async (t) => {
  const app = await guardedApp(t)
  const schema = {
    querystring: { type: 'object', properties: { tenant: { type: ['integer', 'boolean'] } } },
  }
  app.get('/x', { config: { tenant: true }, schema }, async (request) => ({
    tenant: request.tenant,
  }))
  const headers = await as({ '7': [], true: [] })
  for (const tenant of ['7', 'true']) {
    const response = await app.inject({ url: `/x?tenant=${tenant}`, headers })
    assert.deepEqual(response.json(), { tenant })
  }
  const padded = await app.inject({ url: '/x?tenant=07', headers })
  assert.equal(outcome(padded), '403 ERR_AUTH_TENANT_FORBIDDEN')
})

test('what a hook writes into params and query after the decision changes nothing', async (t) => {
  const app = await guardedApp(t)
  app.addHook('preValidation', async (request) => {
    request.params = { tenant: 'quiet-otter' }
    request.query = { tenant: 'quiet-otter' }
  })
  app.get('/:tenant/x', { config: { tenant: true } }, async (request) => request.tenant)
  app.get('/x', { config: { tenant: true } }, async (request) => request.tenant)
  const headers = await as()
  for (const url of ['/lazy-raccoon/x', '/x?tenant=lazy-raccoon']) {
    assert.equal((await app.inject({ url, headers })).body, 'lazy-raccoon')
  }
})

test('a refusal at the last gate names the tenant that was asked for before the validation', async (t) => {
  const { issuer, audience, publicKeys } = authority
  let isTrusted = true
  const app = bareApp(t)
  await app.register(tenantAuth, {
    issuers: () => (isTrusted ? { audience, publicKeys, tenants: '*' as const } : null),
  })
  const headers = await as()
  const config = { tenant: true } as const
  app.get('/x', { config }, async () => 'ok')
  /** The issuer goes while the body comes. */
  const preParsing = async () => {
    isTrusted = false
    app.authService.forget({ issuer })
    await app.inject({ url: '/x?tenant=test-tenant', headers })
  }
  const schema = { querystring: { type: 'object', additionalProperties: false, properties: {} } }
  app.post('/x', { config, schema, preParsing }, async () => 'ok')
  const events = heard(t, 'decision')
  const answer = await app.inject({
    method: 'POST',
    url: '/x?tenant=lazy-raccoon',
    headers,
    payload: {},
  })
  assert.equal(outcome(answer), '401 ERR_AUTH_TOKEN_INVALID')
  const reported = events.map(({ outcome, sub, tenant }) => [outcome, sub, tenant])
  assert.deepEqual(reported, [
    ['admitted', 'test-user', 'lazy-raccoon'],
    ['refused', null, 'test-tenant'],
    ['refused', null, 'lazy-raccoon'],
  ])
})
