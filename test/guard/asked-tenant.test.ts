import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askedTenant } from '../../lib/guard/asked-tenant.ts'
import { askedOf } from '../../lib/guard/decision.ts'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'

const resolveTenant = () => 'quiet-otter'

const ASKED: [what: string, url: string, options: AuthOptions, tenant: string | null][] = [
  ['no tenant', '/query', {}, null],
  ['a tenant in the path', '/lazy-raccoon/x', {}, 'lazy-raccoon'],
  ['a tenant in the query', '/query?tenant=lazy-raccoon', {}, 'lazy-raccoon'],
  ['a name that is no tenant’s', '/query?tenant=*', {}, null],
  ['two tenants', '/query?tenant=a&tenant=b', {}, null],
  ['a tenant that a function tells', '/query', { resolveTenant }, 'quiet-otter'],
]

for (const [what, url, options, tenant] of ASKED) {
  test(`of a request for ${what}, ${tenant} is told`, async (t) => {
    const app = bareApp(t)
    const told: (string | null)[] = []
    await app.register(tenantAuth, trusting(options))
    app.addHook('onResponse', async (request) => {
      const asked = askedOf(request)
      if (asked !== null) told.push(askedTenant(asked))
    })
    app.get('/:tenant/x', async () => 'x')
    app.get('/query', { config: { tenant: true } }, async () => 'x')
    await app.inject({ url, headers: await as() })
    assert.deepEqual(told, [tenant])
  })
}

test('of a stranger the tenant in the url is told, and none where the url cannot be read', async (t) => {
  const told: (string | null)[] = []
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
    const asked = askedOf(request)
    if (asked !== null) told.push(askedTenant(asked))
  })
  app.get('/query', { config: { tenant: true } }, async () => 'x')
  await app.inject('/query?tenant=a')
  isBroken = true
  await app.inject('/query?tenant=a')
  assert.deepEqual(told, ['lazy-raccoon', null])
})
