import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type RouteDifference,
  routeDifferences,
} from '../../lib/entrypoints/cli/policy/diff-route.ts'
import { assertGuarded, probe } from '../../lib/entrypoints/testing/index.ts'
import type { AuthOptions, RouteDeclaration } from '../../lib/index.ts'
import { authority, guardedApp } from '../helpers/app/guarded-app.ts'
import { listed, matrixOf } from '../helpers/app/listed.ts'

const LISTS = { ids: ['acme'], suspended: ['old'] }

const handler = async () => assert.fail('a handler has run')

async function shown(t: TestContext, options: AuthOptions = { tenants: LISTS }) {
  const app = await guardedApp(t, options)
  const routes: readonly [method: 'GET' | 'POST', url: string, config: RouteDeclaration][] = [
    ['GET', '/plain/:tenant', {}],
    ['POST', '/plain/:tenant', { require: 'a:b' }],
    ['GET', '/serving/:tenant', { suspended: true, require: ['a:b', 'c:d'] }],
    ['POST', '/serving/:tenant', { suspended: true }],
    ['GET', '/guests/:tenant', { guests: true }],
    ['GET', '/both/:tenant', { guests: true, suspended: true }],
    ['GET', '/query', { tenant: 'optional' }],
    ['GET', '/none', {}],
    ['GET', '/open', { noauth: true }],
  ]
  for (const [method, url, config] of routes) app.route({ method, url, config, handler })
  await app.ready()
  return app
}

test('routes() shows suspended where it is declared', async (t) => {
  const app = await shown(t)
  const routes = app.authService.routes()
  for (const { url, suspended } of routes) {
    assert.equal(suspended, /serving|both/.test(url) ? true : undefined, url)
  }
  const [application] = matrixOf([routes]).applications
  const locked = application?.routes.filter((route) => 'suspended' in route).map(({ url }) => url)
  assert.deepEqual([...new Set(locked)], ['/both/:tenant', '/serving/:tenant'])
})

test('the document says that a route may answer 403, where tenants are configured', async (t) => {
  const responsesOf = async (options: AuthOptions) => {
    const app = await shown(t, options)
    const paths = {
      '/guests/{tenant}': { get: { responses: {} } },
      '/plain/{tenant}': { get: { responses: {} } },
      '/none': { get: { responses: {} } },
    }
    const info = { title: 'x', version: '1' }
    const document = app.authService.openapi({ openapi: '3.1.0', info, paths })
    return Object.values(document.paths).map(({ get }) => Object.keys(Object(get).responses).join())
  }
  assert.deepEqual(await responsesOf({ tenants: LISTS }), [
    '400,401,403,404,503',
    '400,401,403,404,503',
    '401,503',
  ])
  const withoutTenants = await responsesOf({})
  assert.deepEqual(withoutTenants, ['400,401,503', '400,401,403,503', '401,503'])
})

const TENANT = { tenant: 'path' } as const
const DIFFERENCES: readonly [was: object, is: object, differences: RouteDifference[]][] = [
  [
    {},
    { suspended: true },
    [{ effect: 'opens', text: 'suspended tenants were kept out, are let in' }],
  ],
  [
    { suspended: true },
    {},
    [{ effect: 'closes', text: 'suspended tenants were let in, are kept out' }],
  ],
  [{}, { guests: true }, [{ effect: 'opens', text: 'guests were kept out, are let in' }]],
  [{ guests: true }, {}, [{ effect: 'closes', text: 'guests were let in, are kept out' }]],
  [
    { suspended: true },
    { guests: true },
    [
      { effect: 'opens', text: 'guests were kept out, are let in' },
      { effect: 'closes', text: 'suspended tenants were let in, are kept out' },
    ],
  ],
  [{ suspended: true, guests: true }, { suspended: true, guests: true }, []],
]

for (const [was, is, differences] of DIFFERENCES) {
  test(`in the lock, from ${JSON.stringify(was)} to ${JSON.stringify(is)} says who is let in`, () => {
    const [before, after] = [was, is].map((more) => listed('/:tenant', { ...TENANT, ...more }))
    assert.ok(before && after, 'both are listed')
    assert.deepEqual(routeDifferences(before, after), differences)
  })
}

const PROBED: readonly [suspendedTenants: 'refuse' | 'read', refused: string[]][] = [
  [
    'refuse',
    [
      'GET /guests/:tenant',
      'GET /plain/:tenant',
      'GET /query',
      'HEAD /guests/:tenant',
      'HEAD /plain/:tenant',
      'HEAD /query',
      'POST /plain/:tenant',
    ],
  ],
  ['read', ['POST /plain/:tenant']],
]

for (const [suspendedTenants, refused] of PROBED) {
  test(`with ${suspendedTenants} the probe asks as a member of a suspended tenant`, async (t) => {
    const app = await shown(t, { tenants: LISTS, suspendedTenants })
    const places = { tenant: 'acme', suspended: 'old' }
    const rows = await probe(app, authority, places)
    const statuses = new Set(rows.map(({ suspended }) => suspended))
    assert.deepEqual(statuses, new Set([403, null]))
    const found = rows.filter(({ suspended }) => suspended === 403)
    assert.deepEqual(found.map(({ method, url }) => `${method} ${url}`).sort(), refused)
    await assertGuarded(app, authority, places)
  })
}

test('without a suspended tenant the probe says nothing of one', async (t) => {
  const app = await shown(t)
  const rows = await probe(app, authority, { tenant: 'acme' })
  const seen = rows.some((row) => 'suspended' in row)
  assert.equal(seen, false)
})

for (const [suspended, got] of [
  ['acme', 204],
  ['none', 404],
] as const) {
  test(`assertGuarded fails for ${suspended}, which is not suspended`, async (t) => {
    const app = await shown(t)
    const failing = assertGuarded(app, authority, { tenant: 'acme', suspended })
    const row = `GET +/plain/:tenant +suspended +403 ERR_AUTH_TENANT_SUSPENDED +${got}`
    await assert.rejects(failing, { name: 'AssertionError', message: new RegExp(row) })
  })
}
