import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { casbinChecks } from './casbin-checks.ts'

const RULES = `
p, cook, acme, /menus/*, PUT
g, alice, cook, acme
g, bob, cook, other
`

test('Casbin decides, in the tenant of the request', async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  const checks = await casbinChecks(RULES)
  await app.register(tenantAuth, { ...authority.options, checks })
  app.put('/:tenant/*', { config: { check: 'casbin:permitted' } }, async () => 'done')
  const put = async (sub: string, url: string) => {
    const headers = await authority.headers({ sub, resources: { acme: [], other: [] } })
    return (await app.inject({ method: 'PUT', url, headers })).statusCode
  }
  const answers = [
    await put('alice', '/acme/menus/today'),
    await put('alice', '/acme/orders/1'),
    await put('alice', '/other/menus/today'),
    await put('bob', '/acme/menus/today'),
  ]
  assert.deepEqual(answers, [200, 403, 403, 403])
})
