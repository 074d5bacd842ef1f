import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { describeGuard } from '../../lib/openapi/describe.ts'
import type { DocumentedRoute } from '../../lib/openapi/match-routes.ts'
import { readDeclaration } from '../../lib/routes/declaration.ts'
import { compilePolicy } from '../../lib/routes/policy.ts'
import { holds } from '../helpers/arbitraries/property.ts'
import { DEFAULT_RULES } from '../helpers/documents/documented.ts'

function route(url: string, config: object): DocumentedRoute {
  const { policy } = compilePolicy(
    { url, ...readDeclaration(config), strict: false },
    DEFAULT_RULES,
  )
  return { methods: ['GET', 'QUERY'], url, policy }
}

const ROUTES = [
  route('/menus', { tenant: true }),
  route('/:tenant', {}),
  route('/open', { noauth: true }),
]

/** Documents come from files and other plugins, so they may not be of their type. */
function describe(document: unknown): Record<string, unknown> {
  // @ts-expect-error a document of any kind
  const described: unknown = describeGuard(document, ROUTES, DEFAULT_RULES)
  assert.ok(typeof described === 'object' && described !== null, 'an object came back')
  return { ...described }
}

const get = { get: { responses: {} } }
const inMenus = (operation: unknown) => ({ paths: { '/menus': { get: operation } } })
const parsed = (json: string): unknown => JSON.parse(json)

test('Odd parts of a document are left as they are', () => {
  const item = { $ref: '#/components/pathItems/a', summary: 'a' }
  const paths = parsed('{"/menus":{"get":null},"/open":null,"__proto__":{"a":1},"7":[]}')
  const document = { webhooks: { a: get }, 7: [], paths: { ...Object(paths), '/{tenant}': item } }
  const described = describe(document)
  assert.deepEqual(described['paths'], document.paths)
  assert.deepEqual(Object.keys(Object(described['paths'])), Object.keys(document.paths))
  assert.deepEqual(described['webhooks'], document.webhooks)
  assert.deepEqual(described[7], [])
  assert.deepEqual(
    Object(Object(describe(inMenus({ parameters: [null, 1] }))['paths'])['/menus']).get.parameters,
    [
      null,
      1,
      {
        name: 'tenant',
        in: 'query',
        required: true,
        description: 'The tenant that the request is for',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ],
  )
})

test('A document with circular references is described', () => {
  const schema: Record<string, unknown> = { type: 'object' }
  schema['properties'] = { self: schema }
  const operation: Record<string, unknown> = { responses: { 200: { schema } } }
  operation['callbacks'] = { again: operation }
  const item = { get: operation, parameters: [schema] }
  const document: Record<string, unknown> = {
    paths: { '/menus': item, '/{tenant}': item },
    components: { schemas: { schema }, parameters: { self: schema } },
  }
  document['x-self'] = document
  const { paths } = describe(document)
  for (const path of ['/menus', '/{tenant}']) {
    assert.deepEqual(Object(paths)[path].get.security, [{ bearerAuth: [] }])
  }
  assert.deepEqual(Object.keys(operation), ['responses', 'callbacks'])
})

/** Names with a meaning in a document, or for every object. */
const NAMES = [
  ...['__proto__', 'constructor', 'toString', 'valueOf', 'then', 'length', '0', '', 'a'],
  ...['paths', 'components', 'security', 'servers', 'parameters', 'responses', '$ref', 'url'],
  ...['get', 'query', 'additionalOperations', '/menus', '/{tenant}', '/open', 'tenant', 'http'],
]
const TEXTS = ['/api', '/{a}', '{a}', 'bearer', 'path', '#/components/parameters/a', ...NAMES]

const anything = fc.anything({
  key: fc.constantFrom(...NAMES),
  values: [fc.constantFrom(...TEXTS), fc.constantFrom(null, undefined, true, 0, -1.5)],
  withNullPrototype: true,
  maxDepth: 3,
})

/** An object with some of these members. Sometimes the object or a member is any other value. */
function mostly(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.record(members, { requiredKeys: [] }) },
    { weight: 1, arbitrary: anything },
  )
}
const listOf = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: fc.array(item, { maxLength: 3 }) }, anything)
const text = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...TEXTS) }, anything)

const scheme = mostly({ type: fc.constantFrom('http', 'apiKey'), scheme: text })
const parameter = mostly({ name: text, in: fc.constantFrom('path', 'query'), $ref: text })
const security = listOf(mostly({ a: listOf(text), bearerAuth: listOf(text) }))
const operation = mostly({
  parameters: listOf(parameter),
  responses: mostly({ 401: anything, '4XX': anything, default: anything }),
  security,
})
const item = mostly({
  get: operation,
  query: operation,
  parameters: listOf(parameter),
  additionalOperations: mostly({ GET: operation }),
  $ref: text,
})
const document = mostly({
  servers: listOf(mostly({ url: text, variables: mostly({ a: mostly({ default: text }) }) })),
  paths: mostly({ '/menus': item, '/{tenant}': item, '/open': item, '/api/menus': item }),
  components: mostly({
    securitySchemes: mostly({ a: scheme, bearerAuth: scheme, ['__proto__']: scheme }),
    parameters: mostly({ a: parameter, tenant: parameter }),
    schemas: mostly({ AuthError: anything }),
  }),
  security,
  webhooks: anything,
})

test('Any document can be described, and is not changed', async (t) => {
  const property = fc.asyncProperty(document, async (any) => {
    // Writing to a frozen object throws.
    const described = describe(deepFreeze(any))
    for (const path of ['/menus', '/{tenant}']) {
      const { get } = Object(Object(described['paths'])[path])
      if (typeof get !== 'object' || get === null || Array.isArray(get)) continue
      assert.ok(get.security.length > 0, 'a guarded operation asks for something')
      for (const asked of get.security) assert.notDeepEqual(asked, {})
    }
  })
  await holds(t, property)
})

function deepFreeze(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
