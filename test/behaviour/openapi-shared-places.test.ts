import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'
import type { RouteDeclaration } from '../../lib/index.ts'
import { documentedApp, documentOf, type Operation } from '../helpers/documents/documented.ts'

const handler = async () => 'ok'
const info = { title: 'test', version: '1' }

/** One of several routes that share a place in a document. */
type Twin = RouteShorthandOptions & { readonly url: string }

/** Differences between two routes of one place. The place is `/menus/{id}` for each. */
const SHARED: readonly {
  readonly by: string
  readonly twins: readonly [Twin, Twin]
  readonly swagger?: FastifyDynamicSwaggerOptions
}[] = [
  {
    by: 'versions',
    twins: [
      { url: '/menus/:id', constraints: { version: '1.0.0' } },
      { url: '/menus/:id', constraints: { version: '2.0.0' } },
    ],
  },
  {
    by: 'hosts',
    twins: [
      { url: '/menus/:id', constraints: { host: 'a.example' } },
      { url: '/menus/:id', constraints: { host: 'b.example' } },
    ],
  },
  {
    by: 'a version and none',
    twins: [{ url: '/menus/:id' }, { url: '/menus/:id', constraints: { version: '2.0.0' } }],
  },
  {
    by: 'a version that is hidden',
    twins: [
      { url: '/menus/:id' },
      { url: '/menus/:id', constraints: { version: '2.0.0' }, schema: { hide: true } },
    ],
  },
  {
    by: 'a regular expression',
    twins: [{ url: '/menus/:id(^\\d+$)' }, { url: '/menus/:id' }],
  },
  {
    by: "a server's base path",
    twins: [{ url: '/api/menus/:id' }, { url: '/menus/:id' }],
    swagger: { openapi: { openapi: '3.1.0', info, servers: [{ url: '/api' }] } },
  },
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

/** The operation of twins with this declaration. */
async function sharedOperation(
  twins: readonly (readonly [Twin, RouteDeclaration])[],
  swagger: FastifyDynamicSwaggerOptions = {},
): Promise<Operation> {
  const app = await documentedApp(
    (app) => {
      for (const [{ url, ...twin }, config] of twins) app.get(url, { ...twin, config }, handler)
    },
    { swagger },
  )
  const operation = operationOf(app)
  await app.close()
  return operation
}

const open = { noauth: true }

for (const { by, twins, swagger } of SHARED) {
  test(`An operation of routes that differ by ${by} is guarded if one of them is`, async () => {
    for (const [first, last] of both(twins)) {
      for (const [one, other] of both<RouteDeclaration>([open, { require: 'menu:read' }])) {
        const operation = await sharedOperation(
          [
            [first, one],
            [last, other],
          ],
          swagger,
        )
        const order = JSON.stringify([first, one, last, other])
        assert.deepEqual(operation.security, [{ bearerAuth: [] }], order)
        assert.deepEqual(Object.keys(operation.responses), ['200', '401', '403', '503'], order)
      }
    }
  })

  test(`An operation of routes that differ by ${by} is open if all of them are`, async () => {
    for (const [first, last] of both(twins)) {
      const operation = await sharedOperation(
        [
          [first, open],
          [last, open],
        ],
        swagger,
      )
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
  test(`A client that meets the strictest of three versions meets all, in order ${order}`, async () => {
    const declared: readonly RouteDeclaration[] = [
      open,
      { tenant: 'optional' },
      { tenant: 'required', require: 'menu:read' },
    ]
    const twins = order.map((i): [Twin, RouteDeclaration] => [
      { url: '/menus/:id', constraints: { version: `${i}.0.0` } },
      declared[i] ?? open,
    ])
    const { security, parameters = [], responses } = await sharedOperation(twins)
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

test('A HEAD route is described by itself, beside the GET route of its url', async () => {
  for (const config of [{}, open]) {
    for (const isFirst of [true, false]) {
      const app = await documentedApp(
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
      await app.close()
    }
  }
})

test('A guarded operation is not shown as open because of the security in its schema', async () => {
  const cookie = { type: 'apiKey', in: 'cookie', name: 'token' } as const
  const app = await documentedApp(
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
  await app.close()
})

test('A path that begins with the letters of a base path leaves the others described', async () => {
  const app = await documentedApp(
    (app) => {
      app.get('/v1/menus', handler)
      app.get('/v1/v1-status', handler)
    },
    { swagger: { openapi: { openapi: '3.1.0', info, servers: [{ url: '/v1' }] } } },
  )
  const { paths } = documentOf(app)
  assert.deepEqual(Object.keys(paths), ['/menus', '/v1-status'])
  for (const { get } of Object.values(paths)) assert.deepEqual(get?.security, [{ bearerAuth: [] }])
  await app.close()
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
    test(`A path with its base path is not shown as open beside ${what}, ${which}`, async () => {
      const app = await documentedApp(
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
      await app.close()
    })
  }
}
