import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import * as client from 'openid-client'
import { assertGuarded, createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { paymentRoutes, wantedLogin } from './step-up.ts'

const resources = { acme: ['payment:create', 'payment:approve'] }

test('payments are approved after a login of the right kind, of the last five minutes', async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await paymentRoutes(app, authority.options)
  const now = Math.floor(Date.now() / 1000)

  const fresh = await authority.headers({ resources, acr: 'phr', auth_time: now - 60 })
  const approved = await app.inject({ method: 'POST', url: '/acme/approvals', headers: fresh })
  assert.equal(approved.statusCode, 200)

  const old = await authority.headers({ resources, acr: 'phr', auth_time: now - 3600 })
  const refused = await app.inject({ method: 'POST', url: '/acme/approvals', headers: old })
  assert.equal(refused.statusCode, 401)

  const pay = async (headers: { authorization: string }, amount: number) =>
    (await app.inject({ method: 'POST', url: '/acme/payments', headers, payload: { amount } })).body
  assert.equal(await pay(old, 1000), 'paid')
  assert.match(await pay(old, 1001), /"code":"ERR_AUTH_STEP_UP_REQUIRED"/)
  await assertGuarded(app, authority)
})

test('a client reads from the challenge which login is wanted', async (t) => {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await paymentRoutes(app, authority.options)
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const configuration = new client.Configuration({ issuer: authority.issuer }, 'payments')
  // On loopback there is no TLS.
  client.allowInsecureRequests(configuration)
  const wantedOf = async (path: string, token: string, body?: string) => {
    const url = new URL(path, address)
    const headers = new Headers(body === undefined ? {} : { 'content-type': 'application/json' })
    try {
      await client.fetchProtectedResource(configuration, token, url, 'POST', body, headers)
      return 'nothing'
    } catch (error) {
      return wantedLogin(error)
    }
  }
  const token = await authority.token({ resources })
  const login = { acr_values: 'phr phrh', max_age: '300' }
  assert.deepEqual(await wantedOf('/acme/approvals', token), login)
  assert.deepEqual(await wantedOf('/acme/payments', token, '{"amount":1001}'), { max_age: '60' })
  assert.deepEqual(await wantedOf('/acme/payments', token, '{"amount":1}'), 'nothing')
  assert.deepEqual(await wantedOf('/acme/approvals', await authority.token()), undefined)
  assert.equal(wantedLogin(new Error('other')), undefined)
})
