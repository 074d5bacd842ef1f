import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { allowInsecureRequests, ClientSecretPost, Configuration } from 'openid-client'
import { createTestAuthority, type TestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { invoiceRoutes, OnBehalfOf } from './on-behalf-of.ts'

/** An authorization server that exchanges tokens of the API `lunch` for those of `billing`. */
async function exchangeServer(t: TestContext, authority: TestAuthority, lifetimes: number[]) {
  const keys = createLocalJWKSet({ keys: [...authority.publicKeys.keys] })
  const asked: string[] = []
  const server = Fastify()
  t.after(() => server.close())
  await server.register(formbody)
  server.post<{ Body: Record<string, string> }>('/token', async ({ body }, reply) => {
    const { subject_token: token = '', audience = '', client_id } = body
    asked.push(audience)
    const expiresIn = lifetimes.shift()
    if (expiresIn === undefined) return reply.code(503).send({ error: 'temporarily_unavailable' })
    const { payload } = await jwtVerify(token, keys, { audience: 'lunch' })
    const { sub = '', resources } = payload
    const access_token = await authority.token(
      { sub, resources: Object(resources), act: { sub: client_id } },
      { audience, expiresIn },
    )
    const issued_token_type = 'urn:ietf:params:oauth:token-type:access_token'
    return { access_token, issued_token_type, token_type: 'Bearer', expires_in: expiresIn }
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  const metadata = { issuer: address, token_endpoint: `${address}/token` }
  const client = new Configuration(metadata, 'lunch-api', {}, ClientSecretPost('a secret'))
  allowInsecureRequests(client)
  return { client, asked }
}

async function start(t: TestContext, lifetimes: number[]) {
  const authority = await createTestAuthority({ audience: 'lunch' })
  const { client, asked } = await exchangeServer(t, authority, lifetimes)
  const billing = Fastify()
  const lunch = Fastify()
  t.after(() => Promise.all([billing.close(), lunch.close()]))
  await billing.register(tenantAuth, { ...authority.options, audience: 'billing' })
  const config = { tenant: 'required', authorization: true, require: 'invoice:read' } as const
  billing.get('/:tenant/invoices', { config }, async ({ tenant, authorization }) => ({
    tenant,
    user: authorization.userInfo.sub,
    by: authorization.actor?.sub,
  }))
  await lunch.register(invoiceRoutes, {
    ...authority.options,
    billing: await billing.listen({ host: '127.0.0.1', port: 0 }),
    onBehalfOf: new OnBehalfOf(client),
  })
  const rights = ['invoice:read']
  const user = (sub: string, expiresIn = 300) =>
    authority.headers({ sub, resources: { acme: rights, bistro: rights } }, { expiresIn })
  const ask = async (headers: { authorization: string }, tenant = 'acme') => {
    const response = await lunch.inject({ url: `/${tenant}/invoices`, headers })
    return response.statusCode === 200 ? response.json() : response.statusCode
  }
  return { asked, user, ask }
}

test('another API is asked for the user, by this one, with a token for each user and tenant', async (t) => {
  const { asked, user, ask } = await start(t, [300, 300, 300])
  const [dora, carl] = await Promise.all([user('dora'), user('carl')])
  const answers = await Promise.all([ask(dora), ask(dora), ask(carl), ask(dora, 'bistro')])
  const by = 'lunch-api'
  assert.deepEqual(answers, [
    { tenant: 'acme', user: 'dora', by },
    { tenant: 'acme', user: 'dora', by },
    { tenant: 'acme', user: 'carl', by },
    { tenant: 'bistro', user: 'dora', by },
  ])
  await ask(dora)
  assert.deepEqual(asked, ['billing', 'billing', 'billing'])
})

test('a token is kept as long as it and the token of the user are good, and a failure not at all', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  const { asked, user, ask } = await start(t, [20, 300, 300])
  const dora = await user('dora', 100)
  await ask(dora)
  t.mock.timers.tick(19_000)
  await ask(dora)
  assert.equal(asked.length, 1)
  t.mock.timers.tick(2_000)
  await ask(dora)
  assert.equal(asked.length, 2)
  t.mock.timers.tick(80_000)
  // The tolerance of the guard lets it in; the token that was exchanged for it is over.
  await ask(dora)
  assert.equal(asked.length, 3)
  const carl = await user('carl')
  assert.equal(await ask(carl), 500)
  assert.equal(await ask(carl), 500)
  assert.equal(asked.length, 5)
})
