import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifySchema } from 'fastify'
import type { AuthOptions, RouteDeclaration } from '../../lib/index.ts'
import { documentedApp, documentedRoute, documentOf } from '../helpers/documents/documented.ts'

/** What is not as in a plain route of a plain application. */
interface Particulars {
  readonly url?: string
  readonly config?: RouteDeclaration
  readonly schema?: FastifySchema
  readonly auth?: AuthOptions
}

const tenant = { tenant: true } as const
const listed = { tenants: ['lazy-raccoon'] }
const off = { multitenancy: false }
const resolved = { resolveTenant: () => null }

const CASES: readonly [when: string, particulars: Particulars, answers: string][] = [
  ['declares nothing', {}, '200 401 503'],
  ['is noauth', { config: { noauth: true } }, '200'],
  ['is noauth on a tenant path', { url: '/:tenant', config: { noauth: true } }, '200'],
  ['requires a resource', { config: { require: 'menu:read' } }, '200 401 403 503'],
  ['receives its authorization', { config: { authorization: true } }, '200 401 403 503'],
  ['has a tenant in its path', { url: '/:tenant' }, '200 400 401 403 503'],
  ['has a tenant in its query', { config: tenant }, '200 400 401 403 503'],
  ['is for guests of a tenant', { url: '/:tenant', config: { guests: true } }, '200 400 401 503'],
  ['may have a tenant', { config: { tenant: 'optional' } }, '200 400 401 403 503'],
  [
    'has a tenant, and it is known which exist',
    { url: '/:tenant', auth: listed },
    '200 400 401 403 404 503',
  ],
  ['has no tenant, and it is known which exist', { auth: listed }, '200 401 503'],
  [
    'declares a tenant, with multitenancy off',
    { config: tenant, auth: { ...listed, ...off } },
    '200 401 503',
  ],
  [
    'declares a tenant, with multitenancy off, in dev mode',
    { config: tenant, auth: { ...listed, ...off, devMode: true } },
    '200 400 401 403 404 503',
  ],
  ['has its tenant from resolveTenant', { config: tenant, auth: resolved }, '200 400 401 403 503'],
]

for (const [when, { url = '/menus', config = {}, auth = {} }, answers] of CASES) {
  test(`A route that ${when} is answered with ${answers}`, async (t) => {
    const { responses } = await documentedRoute(
      t,
      (app) => app.get(url, { config }, async () => 'ok'),
      { auth },
    )
    assert.equal(Object.keys(responses).join(' '), answers)
  })
}

test('The 401 of a route says which login it wants, and that of another one does not', async (t) => {
  const said = async (config: RouteDeclaration) => {
    const { responses } = await documentedRoute(t, (app) =>
      app.get('/x', { config }, async () => 'x'),
    )
    return responses['401']?.description
  }
  const plain = 'An access token is required, or is not valid'
  assert.equal(await said({}), plain)
  for (const [stepUp, words] of [
    [{ acr: ['phr', 'phrh'], maxAge: 300 }, 'acr phr or phrh, at most 300 s old'],
    [{ acr: 'phr' }, 'acr phr'],
    [{ maxAge: 0 }, 'at most 0 s old'],
  ] as const) {
    assert.equal(await said({ stepUp }), `${plain}. It requires a login: ${words}`)
  }
})

for (const [require, words] of [
  ['a:b', 'It requires a:b'],
  [['a:b', 'c:d'], 'It requires a:b and c:d'],
  [{ any: ['a:b', 'c:d'] }, 'It requires a:b or c:d'],
  [{ by: () => 'a:b', among: ['a:b', 'c:d'] }, 'By the request it requires of a:b, c:d'],
] as const) {
  test(`The 403 of a route says: ${words}`, async (t) => {
    const { responses } = await documentedRoute(t, (app) =>
      app.get('/x', { config: { require } }, async () => 'x'),
    )
    assert.equal(responses['403']?.description?.split('. ')[1], words)
  })
}

test('An answer names the schema of errors, and its header', async (t) => {
  const { responses } = await documentedRoute(t, (app) => app.get('/:tenant', async () => 'ok'))
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

const own = { type: 'object', properties: { tenant: { type: 'string' } } }

/** Places and names of parameters, with `!` if one is required. */
const PARAMETERS: readonly [when: string, particulars: Particulars, ...parameters: string[]][] = [
  ['no tenant is declared', {}],
  ['the path has a tenant', { url: '/:tenant' }, 'path tenant!'],
  [
    "the path has a tenant, and the route's own schema lacks it",
    {
      url: '/:tenant/:id',
      schema: { params: { type: 'object', properties: { id: { type: 'string' } } } },
    },
    ...['path id!', 'path tenant!'],
  ],
  [
    'the path has a tenant, and the query something else of that name',
    { url: '/:tenant', schema: { querystring: own } },
    ...['query tenant', 'path tenant!'],
  ],
  [
    'the tenant parameter has another name',
    { url: '/:org', auth: { tenantParameter: 'org' } },
    'path org!',
  ],
  [
    'the tenant parameter has another name, and the tenant is in the query',
    { config: tenant, auth: { tenantParameter: 'org' } },
    'query tenant!',
  ],
  ['a tenant is declared', { config: tenant }, 'query tenant!'],
  ['a tenant is required', { config: { tenant: 'required' } }, 'query tenant!'],
  ['a tenant is optional', { config: { tenant: 'optional' } }, 'query tenant'],
  ['multitenancy is off', { config: tenant, auth: off }],
  [
    'multitenancy is off, and the path has a tenant',
    { url: '/:tenant', auth: off },
    'path tenant!',
  ],
  ['dev mode lets it be absent', { config: tenant, auth: { devMode: true } }, 'query tenant'],
  [
    'dev mode ignores that multitenancy is off',
    { config: tenant, auth: { devMode: true, ...off } },
    'query tenant',
  ],
  [
    'a tenant is required in dev mode too',
    { config: { tenant: 'required' }, auth: { devMode: true } },
    'query tenant!',
  ],
  ['the tenant is found elsewhere', { config: tenant, auth: resolved }],
  [
    'the route has its own, and is to have it',
    { config: tenant, schema: { querystring: own } },
    'query tenant!',
  ],
  [
    'the route has its own, and wants what the guard does not',
    { config: { tenant: 'optional' }, schema: { querystring: { ...own, required: ['tenant'] } } },
    'query tenant!',
  ],
]

for (const [when, particulars, ...parameters] of PARAMETERS) {
  const { url = '/', config = {}, schema = {}, auth = {} } = particulars
  test(`The parameters are [${parameters}] where ${when}`, async (t) => {
    const { parameters: found = [] } = await documentedRoute(
      t,
      (app) => app.get(url, { config, schema }, async () => 'ok'),
      { auth },
    )
    const shown = found.map((found) => `${found.in} ${found.name}${found.required ? '!' : ''}`)
    assert.deepEqual(shown, parameters)
  })
}

test("A route's own tenant parameter keeps what the route says of it", async (t) => {
  const own = { type: 'string', pattern: '^[a-z-]+$', description: 'Whose menu' }
  const { parameters } = await documentedRoute(t, (app) =>
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

test('A tenant parameter around an operation, or under a name, is not repeated', async (t) => {
  const app = await documentedApp(t, (app) => {
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
})
