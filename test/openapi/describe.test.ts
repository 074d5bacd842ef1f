import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { FastifyInstance } from 'fastify'
import { parse } from 'yaml'
import { SIDES } from '../helpers/app/beside.ts'
import { documentedApp, documentedRoute, documentOf } from '../helpers/documents/documented.ts'

const handler = async () => 'ok'
const info = { title: 'test', version: '1' }

function write(app: FastifyInstance): void {
  app.get('/health', { config: { noauth: true } }, handler)
  app.get('/:tenant/menus', { config: { tenant: 'required', require: ['menu:read'] } }, handler)
  app.post('/orders', { config: { tenant: true } }, handler)
  app.get('/news', { config: { tenant: 'optional' } }, handler)
  app.get('/files/*', handler)
}

for (const side of SIDES) {
  for (const version of ['3.0.3', '3.1.0']) {
    test(`A document of OpenAPI ${version} is valid, JSON and YAML, with @fastify/swagger ${side} the guard`, async (t) => {
      const app = await documentedApp(t, write, {
        side,
        auth: { tenants: ['lazy-raccoon'] },
        swagger: { openapi: { openapi: version, info } },
      })
      const document = documentOf(app)
      assert.deepEqual(document.components['securitySchemes'], {
        bearerAuth: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
      })
      assert.deepEqual(document.paths['/health']?.['get']?.security, [])
      assert.deepEqual(document.paths['/orders']?.['post']?.security, [{ bearerAuth: [] }])
      assert.deepEqual(parse(app.swagger({ yaml: true })), document)
      const result = await new Validator().validate(JSON.parse(JSON.stringify(document)))
      assert.deepEqual(result, { valid: true })
    })
  }
}

test('The schema of errors is the body of a refusal', async (t) => {
  const app = await documentedApp(t, write)
  const { schemas = {} } = documentOf(app).components
  const refusal = (await app.inject('/lazy-raccoon/menus')).json()
  assert.deepEqual(Object.keys(Object(schemas['AuthError']).properties), Object.keys(refusal))
})

const own = { type: 'object', properties: { reason: { type: 'string' } }, description: 'Our own' }

for (const [key, kept] of [
  ['401', ['401', '503']],
  ['4xx', ['503', '4XX']],
  ['default', ['default']],
] as const) {
  test(`An application's own answer ${key} stands in place of ours`, async (t) => {
    const { responses } = await documentedRoute(t, (app) =>
      app.get('/menus', { schema: { response: { [key]: own } } }, handler),
    )
    assert.deepEqual(Object.keys(responses), kept)
    assert.equal(responses[key.replace('xx', 'XX')]?.description, 'Our own')
  })
}

const apiKey = { type: 'apiKey', in: 'header', name: 'x-key' } as const
const jwt = { type: 'http', scheme: 'Bearer', description: 'Our own' } as const
const cookie = { type: 'apiKey', in: 'cookie', name: 'token' } as const

test("An operation's own security is kept", async (t) => {
  const components = { securitySchemes: { apiKey } }
  const app = await documentedApp(
    t,
    (app) => {
      const schema = { security: [{ apiKey: [] }] }
      app.get('/closed', { schema }, handler)
      app.get('/open', { schema, config: { noauth: true } }, handler)
    },
    { swagger: { openapi: { openapi: '3.1.0', info, components } } },
  )
  const { paths } = documentOf(app)
  assert.deepEqual(paths['/closed']?.['get']?.security, [{ apiKey: [] }])
  assert.deepEqual(paths['/open']?.['get']?.security, [{ apiKey: [] }])
})

const SECURITY = [
  {
    of: 'an API key',
    schemes: { apiKey },
    security: [{ apiKey: [] }],
    auth: {},
    found: [{ bearerAuth: [], apiKey: [] }],
  },
  {
    of: 'its own bearer scheme',
    schemes: { jwt },
    security: [{ jwt: ['a'] }],
    auth: {},
    found: [{ jwt: ['a'] }],
  },
  {
    of: 'a cookie where the token may be',
    schemes: { cookie },
    security: [{ cookie: [] }],
    auth: { tokenFrom: () => null },
    found: [{ cookie: [] }, { bearerAuth: [] }],
  },
]

for (const { of, schemes, security, auth, found } of SECURITY) {
  test(`A document that asks for ${of} everywhere still asks for it`, async (t) => {
    const components = { securitySchemes: schemes }
    const app = await documentedApp(t, write, {
      auth,
      swagger: { openapi: { openapi: '3.1.0', info, components, security } },
    })
    const { paths } = documentOf(app)
    assert.deepEqual(paths['/orders']?.['post']?.security, found)
    assert.deepEqual(paths['/health']?.['get']?.security, [])
    assert.ok(!app.swagger({ yaml: true }).includes('&'), 'no alias')
  })
}

test("An application's own bearer scheme is used, and its other components are kept", async (t) => {
  const bearerAuth = apiKey
  const AuthError = { type: 'object', properties: { ours: { type: 'string' } } } as const
  const app = await documentedApp(t, write, {
    swagger: {
      openapi: {
        openapi: '3.1.0',
        info,
        components: { securitySchemes: { bearerAuth }, schemas: { AuthError } },
      },
    },
  })
  const { components, paths } = documentOf(app)
  assert.deepEqual(components['securitySchemes'], {
    bearerAuth,
    bearerAuth_: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  })
  assert.deepEqual(components['schemas']?.['AuthError'], AuthError)
  const refused = paths['/news']?.['get']?.responses['401']?.content?.['application/json']
  assert.deepEqual(refused?.schema, { $ref: '#/components/schemas/AuthError_' })
})

test('Methods that OpenAPI 3.2 keeps apart are described like all others', async (t) => {
  const app = await documentedApp(
    t,
    (app) => {
      app.addHttpMethod('PURGE')
      app.route({ method: 'PURGE', url: '/menus', handler })
    },
    { swagger: { openapi: { openapi: '3.2.0', info } } },
  )
  const { additionalOperations } = documentOf(app).paths['/menus'] ?? {}
  assert.deepEqual(Object(additionalOperations).PURGE.security, [{ bearerAuth: [] }])
})
