import assert from 'node:assert/strict'
import { test } from 'node:test'
import swagger from '@fastify/swagger'
import fc from 'fast-check'
import Fastify from 'fastify'
import { readDeclaration } from '../../lib/declaration/declaration.ts'
import { compilePolicy } from '../../lib/declaration/policy.ts'
import { describeGuard } from '../../lib/openapi/describe-guard.ts'
import type { DocumentedRoute } from '../../lib/openapi/find-policies.ts'
import { PROPERTY_SEED } from '../helpers/arbitraries/property.ts'

const info = { title: 'test', version: '1' }
const rules = { tenantParameter: 'tenant', multitenancy: true, devMode: false }

interface Server {
  readonly url: string
  readonly variables?: Record<string, { readonly default: string }>
}

/** The paths of a real document of these routes, and those whose operation is not described. */
async function documentOf(urls: readonly string[], servers: Server[], stripBasePath: boolean) {
  const app = Fastify()
  const routes: DocumentedRoute[] = []
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info, servers },
    stripBasePath,
    transformObject: (given) =>
      'openapiObject' in given
        ? describeGuard(given.openapiObject, routes, rules)
        : given.swaggerObject,
  })
  app.addHook('onRoute', ({ url, method }) => {
    const { policy } = compilePolicy({ url, ...readDeclaration({}), strict: false }, rules)
    routes.push({ methods: [method].flat(), url, policy })
  })
  for (const url of urls) {
    try {
      app.get(url, async () => 'ok')
    } catch {
      // The router refuses some urls. It also refuses urls that differ only in a parameter's name.
    }
  }
  await app.ready()
  const paths = Object.entries(Object(app.swagger()).paths)
  await app.close()
  return {
    paths: paths.map(([path]) => path),
    open: paths.filter(([, item]) => !Array.isArray(Object(item).get.security)),
  }
}

const piece = fc.constantFrom(
  ...['/', '/', '/api', '/v1', 'v1', 'menus', '::', '-', '.', 'é', '_', '%20'],
  ...['/:tenant', '/:id', ':x', ':x(^a$)', '(^(?:a|b)$)', '/:tenant?', '*', '{', '}'],
)
const prefix = fc.constantFrom('', '/api', '/v1', '/api/v1', '/v1/v1')
const url = fc
  .tuple(prefix, fc.array(piece, { maxLength: 4 }))
  .map(([start, pieces]) => [start, ...pieces].join(''))
  .map((text) => (text.startsWith('/') ? text : `/${text}`))
const server = fc.constantFrom<Server>(
  ...[
    '/',
    '/api',
    '/api/',
    '/v1',
    '/:tenant',
    'https://example.org',
    'https://example.org/api',
  ].map((url) => ({ url })),
  { url: 'https://{host}/{base}', variables: { host: { default: 'a' }, base: { default: 'v1' } } },
)

test('Every path of a real document is found, with any servers, base paths stripped or not', async () => {
  const property = fc.asyncProperty(
    fc.array(url, { minLength: 1, maxLength: 6 }),
    fc.array(server, { maxLength: 3 }),
    fc.boolean(),
    async (urls, servers, isStripped) => {
      const { open, paths } = await documentOf(urls, servers, isStripped)
      fc.pre(paths.length > 0)
      assert.deepEqual(open, [])
    },
  )
  // Each run boots an application.
  await fc.assert(property, { seed: PROPERTY_SEED, numRuns: 300 })
})
