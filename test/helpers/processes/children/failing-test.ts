import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import Fastify from 'fastify'
import { createTestAuthority } from '../../../../lib/entrypoints/testing/index.ts'
import { tenantAuth } from '../../../../lib/index.ts'

// A test that fails before it closes anything. The endpoint listens, and one connection to it stays
// silent.
test('fails after listen()', async () => {
  const { listen, issuer, audience, headers } = await createTestAuthority()
  const publicKeysUrl = await listen()
  const silent = connect(Number(new URL(publicKeysUrl).port), '127.0.0.1').unref()
  await once(silent, 'connect')
  const app = Fastify()
  await app.register(tenantAuth, { publicKeysUrl, issuer, audience })
  app.get('/', async () => 'ok')
  const answer = await app.inject({ url: '/', headers: await headers() })
  assert.equal(answer.statusCode, 403, `answered ${answer.statusCode}, and this test fails`)
})
