import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { measuredApp } from './metrics.ts'

test('decisions and documents are metrics, and no tenant or user is a label', async (t) => {
  const authority = await createTestAuthority()
  t.after(() => authority.close())
  const publicKeysUrl = await authority.listen()
  const { issuer, audience } = authority
  const app = await measuredApp({ issuer, audience, publicKeysUrl })
  t.after(() => app.close())
  await app.ready()
  await app.authService.refreshKeys()
  const headers = await authority.headers({ sub: 'dora', resources: { 'lazy-raccoon': [] } })
  await app.inject({ url: '/lazy-raccoon/menu', headers })
  await app.inject({ url: '/busy-beaver/menu', headers })
  for (const _ of [1, 2]) await app.inject('/lazy-raccoon/menu')

  const read = async () => (await app.inject('/metrics')).body.split('\n')
  await read()
  // Read twice: what is collected is the number of now, and not added to the number before.
  const lines = await read()
  assert.deepEqual(lines.filter((line) => line.startsWith('auth_decisions_total')).toSorted(), [
    'auth_decisions_total{code="ERR_AUTH_TENANT_FORBIDDEN"} 1',
    'auth_decisions_total{code="ERR_AUTH_TOKEN_MISSING"} 2',
    'auth_decisions_total{code="none"} 1',
  ])
  const age = lines.find((line) => line.startsWith('auth_document_age_seconds'))
  assert.match(age ?? '', /^auth_document_age_seconds\{kind="keys",name="authority.test"\} \d/)
  const text = lines.join('\n')
  assert.equal(text.includes('dora') || text.includes('lazy-raccoon'), false)
  assert.match(text, /http_request_duration_seconds_count\{[^}]*route="\/:tenant\/menu"/)
})
