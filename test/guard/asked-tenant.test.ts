import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authContextOf } from '../../lib/guard/context.ts'
import { requestedTenant } from '../../lib/guard/decide.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'

const resolveTenant = () => 'quiet-otter'

const ASKED: [what: string, url: string, options: AuthOptions, tenant: string | null][] = [
  ['no tenant', '/query', {}, null],
  ['a tenant in the path', '/lazy-raccoon/x', {}, 'lazy-raccoon'],
  ['a tenant in the query', '/query?tenant=lazy-raccoon', {}, 'lazy-raccoon'],
  ['a name that is no tenant’s', '/query?tenant=*', {}, null],
  ['two tenants', '/query?tenant=a&tenant=b', {}, null],
  ['a tenant of a function', '/query', { resolveTenant }, 'quiet-otter'],
]

for (const [what, url, options, tenant] of ASKED) {
  test(`the tenant of a request for ${what} is ${tenant}`, async (t) => {
    const app = bareApp(t)
    const found: (string | null)[] = []
    await app.register(tenantAuth, trusting(options))
    app.addHook('onResponse', async (request) => {
      const context = authContextOf(request)
      if (context) found.push(requestedTenant(context))
    })
    app.get('/:tenant/x', async () => 'x')
    app.get('/query', { config: { tenant: true } }, async () => 'x')
    await app.inject({ url, headers: await as() })
    assert.deepEqual(found, [tenant])
  })
}

test('the tenant of a stranger is the one in the url, and none if the url cannot be read', async (t) => {
  const found: (string | null)[] = []
  let isBroken = false
  const querystringParser = () => ({
    get tenant() {
      if (isBroken) throw new Error('a parser of the application that breaks')
      return 'lazy-raccoon'
    },
  })
  const app = bareApp(t, { routerOptions: { querystringParser } })
  await app.register(tenantAuth, trusting())
  app.addHook('onResponse', async (request) => {
    const context = authContextOf(request)
    if (context) found.push(requestedTenant(context))
  })
  app.get('/query', { config: { tenant: true } }, async () => 'x')
  await app.inject('/query?tenant=a')
  isBroken = true
  await app.inject('/query?tenant=a')
  assert.deepEqual(found, ['lazy-raccoon', null])
})
