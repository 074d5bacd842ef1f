import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { paymentRoutes } from './bound-tokens.ts'

/** A Redis that knows one command; `test/e2e/redis-proofs.e2e.ts` has real ones. */
function redis() {
  const keys = new Set<string>()
  return {
    set: async (key: string, ..._rest: unknown[]) => {
      if (keys.has(key)) return null
      keys.add(key)
      return 'OK'
    },
  }
}

test('a bound token opens a route once for each proof, and payments are for bound tokens', async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await paymentRoutes(app, redis(), authority.options)
  const alice = await authority.bound({ sub: 'alice', resources: { acme: ['payment:create'] } })
  const url = 'https://api.example.com/v2/acme/orders'
  const response = await app.inject({ url: '/acme/orders', headers: alice.headers('GET', url) })
  assert.deepEqual([response.statusCode, response.body], [200, 'alice'])

  const pay = async (headers: Record<string, string>) => {
    const { statusCode } = await app.inject({ method: 'POST', url: '/acme/payments', headers })
    return statusCode
  }
  const proved = alice.headers('POST', 'https://api.example.com/v2/acme/payments')
  assert.equal(await pay(proved), 200)
  assert.equal(await pay(proved), 401)
  assert.equal(await pay({ authorization: `Bearer ${alice.token}` }), 401)
  const bearer = await authority.headers({ sub: 'bob', resources: { acme: ['payment:create'] } })
  assert.equal(await pay(bearer), 401)
  assert.equal((await app.inject({ url: '/acme/orders', headers: bearer })).statusCode, 200)
})
