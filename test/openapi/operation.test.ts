import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifySchema } from 'fastify'
import type { AuthOptions, RouteDeclaration } from '../../lib/index.ts'
import { documentedApp, documentedRoute, documentOf } from '../helpers/documents/documented.ts'

interface Case {
  readonly when: string
  readonly url?: string
  readonly config?: RouteDeclaration
  readonly auth?: AuthOptions
  readonly answers: string
}

const listed = { tenants: ['lazy-raccoon'] }

const CASES: readonly Case[] = [
  { when: 'declares nothing', answers: '200 401 503' },
  { when: 'is noauth', config: { noauth: true }, answers: '200' },
  { when: 'is noauth on a tenant path', url: '/:tenant', config: { noauth: true }, answers: '200' },
  { when: 'requires a resource', config: { require: 'menu:read' }, answers: '200 401 403 503' },
  {
    when: 'receives its authorization',
    config: { authorization: true },
    answers: '200 401 403 503',
  },
  { when: 'has a tenant in its path', url: '/:tenant', answers: '200 400 401 403 503' },
  { when: 'has a tenant in its query', config: { tenant: true }, answers: '200 400 401 403 503' },
  { when: 'may have a tenant', config: { tenant: 'optional' }, answers: '200 400 401 403 503' },
  {
    when: 'has a tenant, and it is known which exist',
    url: '/:tenant',
    auth: listed,
    answers: '200 400 401 403 404 503',
  },
  { when: 'has no tenant, and it is known which exist', auth: listed, answers: '200 401 503' },
  {
    when: 'declares a tenant, with multitenancy off',
    config: { tenant: true },
    auth: { ...listed, multitenancy: false },
    answers: '200 401 503',
  },
  {
    when: 'declares a tenant, with multitenancy off, in dev mode',
    config: { tenant: true },
    auth: { ...listed, multitenancy: false, devMode: true },
    answers: '200 400 401 403 404 503',
  },
  {
    when: 'has its tenant from resolveTenant',
    config: { tenant: true },
    auth: { resolveTenant: () => null },
    answers: '200 400 401 403 503',
  },
]

for (const { when, url = '/menus', config = {}, auth = {}, answers } of CASES) {
  test(`A route that ${when} is answered with ${answers}`, async () => {
    const { responses } = await documentedRoute(
      (app) => app.get(url, { config }, async () => 'ok'),
      { auth },
    )
    assert.equal(Object.keys(responses).join(' '), answers)
  })
}

test('The 401 of a route says which login it wants, and that of another one does not', async () => {
  const said = async (config: RouteDeclaration) => {
    const { responses } = await documentedRoute((app) => app.get('/x', { config }, async () => 'x'))
    return responses['401']?.description
  }
  const plain = 'An access token is required, or is not valid'
  const login = { acr: ['phr', 'phrh'], maxAge: 300 }
  assert.equal(await said({}), plain)
  const shown = await said({ stepUp: login })
  assert.equal(shown, `${plain}. It requires a login: acr phr or phrh, at most 300 s old`)
})

for (const [require, words] of [
  ['a:b', 'It requires a:b'],
  [['a:b', 'c:d'], 'It requires a:b and c:d'],
  [{ any: ['a:b', 'c:d'] }, 'It requires a:b or c:d'],
  [{ by: () => 'a:b', among: ['a:b', 'c:d'] }, 'By the request it requires of a:b, c:d'],
] as const) {
  test(`The 403 of a route says: ${words}`, async () => {
    const { responses } = await documentedRoute((app) =>
      app.get('/x', { config: { require } }, async () => 'x'),
    )
    assert.equal(responses['403']?.description?.split('. ')[1], words)
  })
}

test('An answer names the schema of errors, and its header', async () => {
  const { responses } = await documentedRoute((app) => app.get('/:tenant', async () => 'ok'))
  for (const status of ['400', '401', '403', '503']) {
    const schema = responses[status]?.content?.['application/json']?.schema
    assert.deepEqual(schema, { $ref: '#/components/schemas/AuthError' }, status)
  }
  const headers = Object.entries(responses).map(([status, answer]) => [
    status,
    'headers' in answer ? Object.keys(Object(answer.headers)) : [],
  ])
  assert.deepEqual(Object.fromEntries(headers), {
    200: [],
    400: [],
    401: ['WWW-Authenticate'],
    403: ['WWW-Authenticate'],
    503: ['Retry-After'],
  })
})

interface CaseOfTenantParameter {
  readonly when: string
  readonly url?: string
  readonly config?: RouteDeclaration
  readonly schema?: FastifySchema
  readonly auth?: AuthOptions
  /** Place and name, with `!` if it is required. */
  readonly parameters: readonly string[]
}

const tenant = { tenant: { type: 'string' } }
const off = { multitenancy: false }

const CASES_OF_TENANT_PARAMETER: readonly CaseOfTenantParameter[] = [
  { when: 'no tenant is declared', parameters: [] },
  { when: 'the path has a tenant', url: '/:tenant', parameters: ['path tenant!'] },
  {
    when: "the path has a tenant, and the route's own schema lacks it",
    url: '/:tenant/:id',
    schema: { params: { type: 'object', properties: { id: { type: 'string' } } } },
    parameters: ['path id!', 'path tenant!'],
  },
  {
    when: 'the path has a tenant, and the query something else of that name',
    url: '/:tenant',
    schema: { querystring: { type: 'object', properties: tenant } },
    parameters: ['query tenant', 'path tenant!'],
  },
  {
    when: 'the tenant parameter has another name',
    url: '/:org',
    auth: { tenantParameter: 'org' },
    parameters: ['path org!'],
  },
  {
    when: 'the tenant parameter has another name, and the tenant is in the query',
    config: { tenant: true },
    auth: { tenantParameter: 'org' },
    parameters: ['query tenant!'],
  },
  { when: 'a tenant is declared', config: { tenant: true }, parameters: ['query tenant!'] },
  { when: 'a tenant is required', config: { tenant: 'required' }, parameters: ['query tenant!'] },
  { when: 'a tenant is optional', config: { tenant: 'optional' }, parameters: ['query tenant'] },
  { when: 'multitenancy is off', config: { tenant: true }, auth: off, parameters: [] },
  {
    when: 'multitenancy is off, and the path has a tenant',
    url: '/:tenant',
    auth: off,
    parameters: ['path tenant!'],
  },
  {
    when: 'dev mode lets it be absent',
    config: { tenant: true },
    auth: { devMode: true },
    parameters: ['query tenant'],
  },
  {
    when: 'dev mode ignores that multitenancy is off',
    config: { tenant: true },
    auth: { devMode: true, ...off },
    parameters: ['query tenant'],
  },
  {
    when: 'a tenant is required in dev mode too',
    config: { tenant: 'required' },
    auth: { devMode: true },
    parameters: ['query tenant!'],
  },
  {
    when: 'the tenant is found elsewhere',
    config: { tenant: true },
    auth: { resolveTenant: () => null },
    parameters: [],
  },
  {
    when: 'the route has its own, and is to have it',
    config: { tenant: true },
    schema: { querystring: { type: 'object', properties: tenant } },
    parameters: ['query tenant!'],
  },
  {
    when: 'the route has its own, and wants what the guard does not',
    config: { tenant: 'optional' },
    schema: { querystring: { type: 'object', required: ['tenant'], properties: tenant } },
    parameters: ['query tenant!'],
  },
]

for (const {
  when,
  url = '/',
  config = {},
  schema = {},
  auth = {},
  parameters,
} of CASES_OF_TENANT_PARAMETER) {
  test(`The parameters are [${parameters}] where ${when}`, async () => {
    const { parameters: found = [] } = await documentedRoute(
      (app) => app.get(url, { config, schema }, async () => 'ok'),
      { auth },
    )
    const shown = found.map((found) => `${found.in} ${found.name}${found.required ? '!' : ''}`)
    assert.deepEqual(shown, parameters)
  })
}

test("A route's own tenant parameter keeps what the route says of it", async () => {
  const own = { type: 'string', pattern: '^[a-z-]+$', description: 'Whose menu' }
  const { parameters } = await documentedRoute((app) =>
    app.get(
      '/menus',
      {
        config: { tenant: true },
        schema: { querystring: { type: 'object', properties: { tenant: own } } },
      },
      async () => 'ok',
    ),
  )
  const { description, ...schema } = own
  assert.deepEqual(parameters, [
    { schema, in: 'query', name: 'tenant', required: true, description },
  ])
})

test('A tenant parameter around an operation, or under a name, is not repeated', async () => {
  const app = await documentedApp((app) => {
    app.get('/around', { config: { tenant: true } }, async () => 'ok')
    app.get('/named', { config: { tenant: true } }, async () => 'ok')
  })
  const tenant = { name: 'tenant', in: 'query', required: true, schema: { type: 'string' } }
  const operation = { responses: {} }
  const document = app.authService.openapi({
    components: { parameters: { Tenant: tenant } },
    paths: {
      '/around': { parameters: [tenant], get: operation },
      '/named': {
        get: { ...operation, parameters: [{ $ref: '#/components/parameters/Tenant' }] },
      },
    },
  })
  assert.deepEqual(document.paths['/around'].parameters, [tenant])
  assert.equal('parameters' in document.paths['/around'].get, false)
  assert.deepEqual(document.paths['/named'].get.parameters, [
    { $ref: '#/components/parameters/Tenant' },
  ])
  assert.deepEqual(Object.keys(documentOf(app).paths), ['/around', '/named'])
  await app.close()
})
