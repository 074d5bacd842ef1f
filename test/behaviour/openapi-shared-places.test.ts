import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import type { RouteDeclaration } from '../../lib/index.ts'
import { documentedApp, documentOf, type Operation } from '../helpers/documents/documented.ts'

const handler = async () => 'ok'
const info = { title: 'test', version: '1' }

/** One of several routes that share a place in a document. */
type Twin = RouteShorthandOptions & { readonly url: string }

const PLACE = { url: '/menus/:id' }
const version = (number: number): Twin => ({ ...PLACE, constraints: { version: `${number}.0.0` } })

/** Differences between two routes of one place. The place is `/menus/{id}` for each. */
const SHARED: readonly [
  by: string,
  first: Twin,
  last: Twin,
  swagger?: FastifyDynamicSwaggerOptions,
][] = [
  ['versions', version(1), version(2)],
  [
    'hosts',
    { ...PLACE, constraints: { host: 'a.example' } },
    { ...PLACE, constraints: { host: 'b.example' } },
  ],
  ['a version and none', PLACE, version(2)],
  ['a version that is hidden', PLACE, { ...version(2), schema: { hide: true } }],
  ['a regular expression', { url: '/menus/:id(^\\d+$)' }, PLACE],
  [
    "a server's base path",
    { url: '/api/menus/:id' },
    PLACE,
    { openapi: { openapi: '3.1.0', info, servers: [{ url: '/api' }] } },
  ],
]

/** The one operation of a document. */
function operationOf(app: FastifyInstance): Operation {
  const operation = documentOf(app).paths['/menus/{id}']?.['get']
  assert.ok(operation, 'the document has the shared place')
  return operation
}

/** Both orders of two. */
const both = <Item>([a, b]: readonly [Item, Item]): readonly [Item, Item][] => [
  [a, b],
  [b, a],
]

/** The operation of routes that share a place. */
async function sharedOperation(
  t: TestContext,
  twins: readonly (Twin & { readonly config: RouteDeclaration })[],
  swagger: FastifyDynamicSwaggerOptions = {},
): Promise<Operation> {
  const app = await documentedApp(
    t,
    (app) => {
      for (const { url, ...twin } of twins) app.get(url, twin, handler)
    },
    { swagger },
  )
  return operationOf(app)
}

const open = { noauth: true }

for (const [by, one, other, swagger] of SHARED) {
  test(`An operation of routes that differ by ${by} is guarded if one of them is`, async (t) => {
    for (const [first, last] of both([one, other])) {
      for (const [config, next] of both<RouteDeclaration>([open, { require: 'menu:read' }])) {
        const twins = [
          { ...first, config },
          { ...last, config: next },
        ]
        const operation = await sharedOperation(t, twins, swagger)
        const order = JSON.stringify(twins)
        assert.deepEqual(operation.security, [{ bearerAuth: [] }], order)
        assert.deepEqual(Object.keys(operation.responses), ['200', '401', '403', '503'], order)
      }
    }
  })

  test(`An operation of routes that differ by ${by} is open if all of them are`, async (t) => {
    for (const twins of both([one, other])) {
      const all = twins.map((twin) => ({ ...twin, config: open }))
      const operation = await sharedOperation(t, all, swagger)
      assert.deepEqual(operation.security, [])
      assert.deepEqual(Object.keys(operation.responses), ['200'])
    }
  })
}

for (const order of [
  [0, 1, 2],
  [1, 2, 0],
  [2, 1, 0],
]) {
  test(`A client that meets the strictest of three versions meets all, in order ${order}`, async (t) => {
    const declared: readonly RouteDeclaration[] = [
      open,
      { tenant: 'optional' },
      { tenant: 'required', require: 'menu:read' },
    ]
    const twins = order.map((i) => ({ ...version(i), config: declared[i] ?? open }))
    const { security, parameters = [], responses } = await sharedOperation(t, twins)
    assert.deepEqual(security, [{ bearerAuth: [] }])
    assert.deepEqual(
      parameters.map(({ name, required }) => [name, required]),
      [
        ['id', true],
        ['tenant', true],
      ],
    )
    assert.deepEqual(Object.keys(responses), ['200', '400', '401', '403', '503'])
  })
}

test('A HEAD route is described by itself, beside the GET route of its url', async (t) => {
  for (const config of [{}, open]) {
    for (const isFirst of [true, false]) {
      const app = await documentedApp(
        t,
        (app) => {
          const head = () => app.head('/menus', { config: open }, handler)
          if (isFirst) head()
          app.get('/menus', { config, exposeHeadRoute: false }, handler)
          if (!isFirst) head()
          app.get('/twin', { config }, handler)
        },
        { swagger: { exposeHeadRoutes: true } },
      )
      const { paths } = documentOf(app)
      const asGet = config === open ? [] : [{ bearerAuth: [] }]
      assert.deepEqual(paths['/menus']?.['head']?.security, [])
      assert.deepEqual(paths['/menus']?.['get']?.security, asGet)
      assert.deepEqual(paths['/twin']?.['head']?.security, asGet)
      assert.deepEqual(paths['/twin']?.['get']?.security, asGet)
    }
  }
})

test('A guarded operation is not shown as open because of the security in its schema', async (t) => {
  const cookie = { type: 'apiKey', in: 'cookie', name: 'token' } as const
  const app = await documentedApp(
    t,
    (app) => {
      app.get('/none', { schema: { security: [] } }, handler)
      app.get('/anonymous', { schema: { security: [{}] } }, handler)
      app.get('/either', { schema: { security: [{}, { cookie: [] }] } }, handler)
      app.get('/silent', handler)
    },
    {
      auth: { tokenFrom: () => null },
      swagger: {
        openapi: {
          openapi: '3.1.0',
          info,
          security: [{}],
          components: { securitySchemes: { cookie } },
        },
      },
    },
  )
  const { paths } = documentOf(app)
  for (const [path, security] of [
    ['/none', [{ bearerAuth: [] }]],
    ['/anonymous', [{ bearerAuth: [] }]],
    ['/either', [{ cookie: [] }]],
    ['/silent', [{ bearerAuth: [] }]],
  ] as const) {
    assert.deepEqual(paths[path]?.['get']?.security, security, path)
  }
})

test('A path that begins with the letters of a base path leaves the others described', async (t) => {
  const app = await documentedApp(
    t,
    (app) => {
      app.get('/v1/menus', handler)
      app.get('/v1/v1-status', handler)
    },
    { swagger: { openapi: { openapi: '3.1.0', info, servers: [{ url: '/v1' }] } } },
  )
  const { paths } = documentOf(app)
  assert.deepEqual(Object.keys(paths), ['/menus', '/v1-status'])
  for (const { get } of Object.values(paths)) assert.deepEqual(get?.security, [{ bearerAuth: [] }])
})

const shown = { get: { responses: {} } }

/** A route that has another route's place, if base paths are read as stripped. */
const HIDDEN_TWINS: readonly (readonly [what: string, urls: readonly string[]])[] = [
  ['one hidden route', ['/api/api/x']],
  ['more hidden routes than the document shows', ['/api/api/x', '/api/other', '/api/third']],
]

for (const [what, hidden] of HIDDEN_TWINS) {
  for (const isHiddenOpen of [true, false]) {
    const which = isHiddenOpen ? 'open' : 'guarded'
    test(`A path with its base path is not shown as open beside ${what}, ${which}`, async (t) => {
      const app = await documentedApp(
        t,
        (app) => {
          app.get('/api/x', { config: { noauth: !isHiddenOpen } }, handler)
          for (const url of hidden) {
            app.get(url, { schema: { hide: true }, config: { noauth: isHiddenOpen } }, handler)
          }
        },
        {
          swagger: {
            openapi: {
              openapi: '3.1.0',
              info,
              servers: [{ url: '/api' }],
              paths: { '/other': shown, '/third': shown },
            },
            stripBasePath: false,
          },
        },
      )
      const { paths } = documentOf(app)
      assert.deepEqual(paths['/api/x']?.['get']?.security, [{ bearerAuth: [] }])
    })
  }
}
