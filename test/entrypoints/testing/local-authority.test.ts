import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { decodeJwt } from 'jose'
import { startAuthority } from '../../../lib/entrypoints/testing/test-authority.ts'
import { tenantAuth } from '../../../lib/index.ts'
import { takenPort } from '../../helpers/processes/running-example.ts'

test('its issuer is its own address, where an application discovers its keys', async (t) => {
  const authority = await startAuthority(0, 'lunch')
  t.after(() => authority.close())
  const { issuer, audience } = authority
  const app = Fastify()
  t.after(() => app.close())
  await app.register(tenantAuth, { issuer, audience })
  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async () => 'soup')
  const token = await authority.token({ resources: { acme: [] } })
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await app.inject({ url: '/acme/menu', headers })).statusCode, 200)
  assert.match(issuer, /^http:\/\/localhost:\d+$/)
  assert.deepEqual([decodeJwt(token).iss, decodeJwt(token).aud], [issuer, 'lunch'])
})

test('a token may be given another issuer', async (t) => {
  const authority = await startAuthority(0, 'api')
  t.after(() => authority.close())
  assert.equal(decodeJwt(await authority.token({}, { issuer: 'x' })).iss, 'x')
})

test('after close nothing listens', async () => {
  const authority = await startAuthority(0, 'api')
  assert.equal((await fetch(authority.keysUrl)).status, 200)
  await authority.close()
  await assert.rejects(fetch(authority.keysUrl))
})

test('a port in use is an error', async (t) => {
  await assert.rejects(startAuthority(await takenPort(t), 'api'), { code: 'EADDRINUSE' })
})
