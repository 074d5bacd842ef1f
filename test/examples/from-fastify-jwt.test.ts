import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import jwt from '@fastify/jwt'
import Fastify, { type FastifyInstance } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { type Account, before, firstDay, withCustomer } from './from-fastify-jwt.ts'

const secret = randomBytes(32).toString('hex')
const dora: Account = { id: 'dora', tenant: 'lazy-raccoon', role: 'guest' }
const carl: Account = { id: 'carl', tenant: 'busy-beaver', role: 'admin' }
const accountOf = async (body: unknown) =>
  [dora, carl].find(({ id }) => id === Object(body).id) ?? null

const login = (app: FastifyInstance, id: string) =>
  app.inject({ method: 'POST', url: '/login', payload: { id } })

/** A request, and what both applications answer, in the same words. */
const ANSWERS = [
  ['dora', 'GET', 200, 'the menu of lazy-raccoon for dora'],
  ['carl', 'GET', 200, 'the menu of busy-beaver for carl'],
  ['carl', 'DELETE', 200, 'no menu of busy-beaver'],
  ['dora', 'DELETE', 403],
  ['nobody', 'GET', 401],
] as const

test('on the first day tokens, addresses and answers are those of before', async (t) => {
  const [old, guarded] = [await before(secret, accountOf), await firstDay(secret, accountOf)]
  for (const app of [old, guarded]) {
    t.after(() => app.close())
    assert.equal((await app.inject('/health')).body, 'ok')
    for (const [id, method, status, body] of ANSWERS) {
      // A token of the application before counts on the first day too.
      const { statusCode, body: token } = await login(old, id)
      const headers = statusCode === 200 ? { authorization: `Bearer ${token}` } : {}
      const answer = await app.inject({ method, url: '/menu', headers })
      assert.equal(answer.statusCode, status, `${method} as ${id}`)
      if (body !== undefined) assert.equal(answer.body, body)
    }
  }
  assert.equal((await login(guarded, 'nobody')).statusCode, 401)
  assert.equal((await login(guarded, 'dora')).statusCode, 200)
})

test('an existing decoration of the same name stops the boot, and one of another name serves', async (t) => {
  const { options, headers } = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await app.register(jwt, { secret })
  app.decorateRequest('tenant', null)
  await assert.rejects(async () => app.register(tenantAuth, options), {
    code: 'ERR_AUTH_CONFIG_INVALID',
  })
  const renamed = await withCustomer(options, async (name) => ({ name, plan: 'gold' }))
  t.after(() => renamed.close())
  const user = { headers: await headers({ resources: { 'lazy-raccoon': [] } }) }
  assert.equal((await renamed.inject({ url: '/lazy-raccoon/plan', ...user })).body, 'gold')
  assert.equal((await renamed.inject({ url: '/busy-beaver/plan', ...user })).statusCode, 403)
})
