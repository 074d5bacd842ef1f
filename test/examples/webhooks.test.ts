import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority, probe } from '../../lib/entrypoints/testing/index.ts'
import { hookRoutes, sign, signedAddress } from './webhooks.ts'

const SECRETS = new Map([
  ['acme', 'the secret of acme'],
  ['other', 'the secret of other'],
])

async function start(t: TestContext) {
  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await hookRoutes(app, async (tenant) => SECRETS.get(tenant), {
    ...authority.options,
    tenants: { ids: ['acme', 'other', 'new'], suspended: ['old'] },
  })
  return { app, authority }
}

const now = () => String(Math.floor(Date.now() / 1000))

test('a webhook is taken with the signature of its tenant over its very bytes', async (t) => {
  const { app } = await start(t)
  const payload = '{"amount":  7}'
  const post = async (tenant: string, secret: string, time = now(), signed = payload) => {
    const headers = {
      'content-type': 'application/json',
      'x-timestamp': time,
      'x-signature': sign(secret, time, signed).toString('hex'),
    }
    const url = `/${tenant}/hooks/payments`
    const response = await app.inject({ method: 'POST', url, headers, payload })
    return response.statusCode === 200 ? response.body : response.json().code
  }
  const secret = String(SECRETS.get('acme'))
  assert.equal(await post('acme', secret), '{"tenant":"acme","paid":7}')
  assert.equal(await post('acme', 'another secret'), 'ERR_AUTH_NOT_PERMITTED')
  assert.equal(await post('other', secret), 'ERR_AUTH_NOT_PERMITTED')
  assert.equal(await post('new', secret), 'ERR_AUTH_NOT_PERMITTED', 'it has no secret')
  assert.equal(await post('acme', secret, now(), '{"amount":7}'), 'ERR_AUTH_NOT_PERMITTED')
  assert.equal(await post('acme', secret, '1700000000'), 'ERR_AUTH_NOT_PERMITTED', 'too old')
  assert.equal(await post('acme', secret, 'soon'), 'ERR_AUTH_NOT_PERMITTED')
  for (const tenant of ['old', 'unknown']) {
    assert.equal(await post(tenant, secret), 'ERR_AUTH_TENANT_UNKNOWN')
  }
})

test('a signed address opens its own file, for a while', async (t) => {
  const { app } = await start(t)
  const get = async (url: string) => {
    const response = await app.inject(url)
    return response.statusCode === 200 ? response.body : response.json().code
  }
  const address = signedAddress(String(SECRETS.get('acme')), '/acme/files/menu.pdf')
  assert.equal(await get(address), 'a file of acme')
  assert.equal(await get(address.replace('menu', 'plan')), 'ERR_AUTH_NOT_PERMITTED')
  assert.equal(await get(address.replace('/acme', '/other')), 'ERR_AUTH_NOT_PERMITTED')
  assert.equal(await get(address.replace('expires=1', 'expires=9')), 'ERR_AUTH_NOT_PERMITTED')
  assert.equal(await get('/acme/files/menu.pdf'), 'ERR_AUTH_NOT_PERMITTED')
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 61_000 })
  assert.equal(await get(address), 'ERR_AUTH_NOT_PERMITTED')
})

test('a page for everybody is there for tenants that exist', async (t) => {
  const { app, authority } = await start(t)
  assert.equal((await app.inject('/old/status')).body, 'old is here')
  assert.equal((await app.inject('/unknown/status')).statusCode, 404)
  for (const { noauth, stranger } of await probe(app, authority, { tenant: 'acme' })) {
    assert.deepEqual([noauth, stranger], [true, null])
  }
})
