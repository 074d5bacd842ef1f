import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  parameterNames,
  pathParameters,
  withAndWithoutOptional,
} from '../../lib/routes/route-path.ts'
import { as, bareApp, guardedApp } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'
import { holds } from '../helpers/arbitraries/property.ts'

/** A path pattern, whether it has a tenant segment, and a path that it matches. */
const PATTERNS_OF_TENANT_SEGMENT: readonly [pattern: string, has: boolean, path: string][] = [
  ['/:tenant', true, '/a'],
  ['/menu/of/:tenant', true, '/menu/of/a'],
  ['/:tenant?', true, '/a'],
  ['/:a-:tenant.json', true, '/1-a.json'],
  ['/:tenant(^[a-z]+$)/menu', true, '/a/menu'],
  ['/:id(^\\d+$):tenant', true, '/1a'],
  ['/:id(^(?:tenant|\\))$)/:tenant', true, '/tenant/a'],
  ['/at/:hour(^\\d+$)h:tenant(^\\w+$)m', true, '/at/1ham'],
  ['/::x/:tenant', true, '/:x/a'],
  ['/x:::tenant', true, '/x:a'],
  ['/:id(^\\d+$)::y:tenant', true, '/1:ya'],
  ['/::tenant', false, '/:tenant'],
  ['/:tenants', false, '/a'],
  ['/:tenantId', false, '/a'],
  ['/:x_tenant', false, '/a'],
  ['/:tenant:x', false, '/a'],
  ['/:a:tenant', false, '/a'],
  ['/:id(^(?:tenant)$)', false, '/tenant'],
  ['/:id(^(?:tenant)$)/:x', false, '/tenant/a'],
  ['/:id(^\\w+$)tenant', false, '/atenant'],
  ['/x/*', false, '/x/:tenant'],
]

for (const [pattern, has, path] of PATTERNS_OF_TENANT_SEGMENT) {
  test(`${pattern} has ${has ? 'a' : 'no'} tenant segment, and the router agrees`, async (t) => {
    assert.equal(parameterNames(pattern).includes('tenant'), has)

    const app = bareApp(t)
    app.get(pattern, async (request) => request.params)
    const response = await app.inject(path)
    assert.equal(response.statusCode, 200)
    assert.equal(Object.hasOwn(response.json(), 'tenant'), has)
  })
}

/** Paths, and the parts of each that are parameters, with their names and expressions. */
const PARAMETERS: readonly [path: string, found: (readonly [string, string, string])[]][] = [
  ['/x', []],
  ['/:a', [[':a', 'a', '']]],
  ['/:a?', [[':a?', 'a', '']]],
  ['/:a?b', [[':a?b', 'a?b', '']]],
  [
    '/:a-:b.png',
    [
      [':a', 'a', ''],
      [':b', 'b', ''],
    ],
  ],
  ['/:a(^\\d+$)/x', [[':a(^\\d+$)', 'a', '(^\\d+$)']]],
  [
    '/:a(^(?:x|\\))$):b',
    [
      [':a(^(?:x|\\))$)', 'a', '(^(?:x|\\))$)'],
      [':b', 'b', ''],
    ],
  ],
]

for (const [path, found] of PARAMETERS) {
  test(`${path} has ${found.length} parameters, each of which is found where it stands`, () => {
    const parameters = pathParameters(path).map(({ name, expression, start, end }) => {
      assert.equal(end <= path.length, true)
      return [path.slice(start, end), name, expression]
    })
    assert.deepEqual(parameters, found)
  })
}

test('a regular expression without an end hides what follows, and no router takes it', (t) => {
  assert.equal(parameterNames('/:id(^((a)$/:tenant').includes('tenant'), false)
  assert.throws(() => bareApp(t).get('/:id(^((a)$/:tenant', async () => 'never'))
})

/** The router that Fastify uses. */
const Router: typeof import('find-my-way') = createRequire(
  createRequire(import.meta.url).resolve('fastify'),
)('find-my-way')

/** The names of a pattern's parameters; null where the router refuses the pattern. */
function namesIn(pattern: string): string[] | null {
  const router = Router()
  try {
    router.on('GET', pattern, () => {})
  } catch {
    return null
  }
  assert.ok('routes' in router && Array.isArray(router.routes), 'a router lists its routes')
  return router.routes.flatMap(({ params }) => params)
}

test('any pattern that the router takes has the tenant segment that the router finds', async (t) => {
  const pieces = [...':()/*-.?\\%_xX', '::', ':tenant', 'tenant', '//', '(^a$)', '(^(?:a|\\))$)']
  const pattern = fc
    .array(fc.constantFrom(...pieces, '/', ':tenant'), { maxLength: 10 })
    .map((parts) => `/${parts.join('')}`)
  const property = fc.asyncProperty(pattern, async (any) => {
    const names = namesIn(any)
    fc.pre(names !== null)
    // After other text, a question mark belongs to the name; see the next test.
    const has = names.includes('tenant') || names.includes('tenant?')
    assert.equal(parameterNames(any).includes('tenant'), has, `${any} has ${names}`)
  })
  await holds(t, property)
})

test('a tenant whose name keeps its question mark is found in no request', async (t) => {
  const app = await guardedApp(t)
  app.get('/x-:tenant?', async (request) => request.params)
  const response = await app.inject({ url: '/x-lazy-raccoon', headers: await as() })
  assertRefused(response, 'ERR_AUTH_TENANT_MISSING')
})

const OPTIONAL: readonly [url: string, ...spellings: string[]][] = [
  ['/a', '/a'],
  ['/:id', '/:id'],
  ['/:id?', '/:id', '/'],
  ['/a/:id?', '/a/:id', '/a'],
  ['/a/:id?/', '/a/:id/', '/a/'],
  ['/:one/:two?', '/:one/:two', '/:one'],
  ['/:?', '/:', '/'],
  ['/:id(^a?$)', '/:id(^a?$)'],
  ['/a?', '/a?'],
]

for (const [url, ...spellings] of OPTIONAL) {
  test(`${url} is ${spellings.join(' and ')}`, () => {
    assert.deepEqual(withAndWithoutOptional(url), spellings)
  })
}
