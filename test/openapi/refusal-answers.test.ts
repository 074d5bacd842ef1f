import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuthOptions, RouteDeclaration } from '../../lib/index.ts'
import { documentedRoute } from '../helpers/documents/documented.ts'

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
