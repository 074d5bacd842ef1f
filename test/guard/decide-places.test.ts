import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

const MISSING = '400 ERR_AUTH_TENANT_MISSING'

/** Settings under which the absent tenant of a path stays absent. */
for (const options of [
  {},
  { resolveTenant: () => assert.fail('was asked') },
  { devMode: true },
  { devMode: true, resolveTenant: () => 'default' },
]) {
  test(`where a path has no tenant it is missing, with ${Object.keys(options).join() || 'no option'}`, async (t) => {
    const app = await guardedApp(t, options)
    app.get('/maybe/:tenant?', { config: { tenant: true } }, async () => 'never')
    for (const url of ['/maybe', '/maybe?tenant=lazy-raccoon', '/maybe?tenant=default']) {
      assert.equal(outcome(await app.inject({ url, headers: await as() })), MISSING)
    }
  })
}

test('what a hook before the guard writes into the params counts before the query', async (t) => {
  const app = bareApp(t)
  app.addHook('onRequest', async (request) => {
    request.params = { tenant: 'lazy-raccoon' }
  })
  await app.register(tenantAuth, trusting())
  app.get('/x', { config: { tenant: true } }, async ({ tenant }) => tenant)
  const response = await app.inject({ url: '/x?tenant=quiet-otter', headers: await as() })
  assert.equal(response.body, 'lazy-raccoon')
})

/** What a router or a parser of the application may give. It holds no tenant of its own. */
const HOLDERS: readonly [what: string, holder: unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a text', 'tenant=lazy-raccoon'],
  ['a list', Object.assign([], { tenant: 'lazy-raccoon' })],
  ['an object that inherits one', Object.create({ tenant: 'lazy-raccoon' })],
  ['another object', { other: 'lazy-raccoon' }],
]

for (const [what, holder] of HOLDERS) {
  test(`${what} in the place of the params or of the query names no tenant`, async (t) => {
    const app = bareApp(t)
    app.addHook('onRequest', async (request) => {
      request.params = holder
      request.query = holder
    })
    await app.register(tenantAuth, trusting())
    app.get('/x', { config: { tenant: true } }, async () => 'never')
    app.get('/:tenant/x', async () => 'never')
    for (const url of ['/x', '/lazy-raccoon/x']) {
      assert.equal(outcome(await app.inject({ url, headers: await as() })), MISSING)
    }
  })
}

test('a request without a tenant does not ask for one that exists', async (t) => {
  const app = await guardedApp(t, { tenants: ['real'] })
  app.get('/x', async () => 'x')
  assert.equal(outcome(await app.inject({ url: '/x', headers: await as() })), '200')
})
