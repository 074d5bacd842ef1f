import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { RouteRegister } from '../../lib/declaration/route-register.ts'
import { documentedRoutes } from '../../lib/openapi/find-policies.ts'

const RULES = { multitenancy: true, devMode: false, tenantParameter: 'tenant' }

const handler = async () => 'x'

for (const when of ['before', 'after'] as const) {
  test(`each place of a route is told once, ${when} the policies are compiled`, async (t) => {
    const app = Fastify({ exposeHeadRoutes: false })
    t.after(() => app.close())
    app.get('/early/:tenant', { config: { noauth: true } }, handler)
    const register = new RouteRegister(app, RULES, () => true)
    const config = { tenant: 'optional' } as const
    app.route({ method: ['PUT', 'POST'], url: '/several', config, handler })
    app.get('/open', { config: { noauth: true } }, handler)
    await app.ready()
    if (when === 'after') register.compile()
    const told = documentedRoutes(register, RULES).map(({ methods, url, policy }) => {
      const { noauth, tenant, mayBeAbsent } = policy
      return [methods.join(), url, noauth, tenant, mayBeAbsent]
    })
    assert.deepEqual(told, [
      ['GET', '/early/:tenant', false, 'path', false],
      ['PUT,POST', '/several', false, 'query', true],
      ['GET', '/open', true, null, false],
    ])
  })
}
