import assert from 'node:assert/strict'
import test from 'node:test'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { until } from '../helpers/processes/until.ts'
import { operatedApp } from './operations.ts'

test('the log holds each request and its refusal, and no token', async (t) => {
  const lines: string[] = []
  const authority = await createTestAuthority()
  const app = await operatedApp(
    authority.options,
    { write: (line) => lines.push(line) },
    () => undefined,
  )
  t.after(() => app.close())
  const headers = await authority.headers({ sub: 'dora', resources: { 'lazy-raccoon': [] } })
  for (const tenant of ['lazy-raccoon', 'busy-beaver']) {
    await app.inject({ url: `/${tenant}/menu`, headers: { ...headers, cookie: 'session=secret' } })
  }
  const log = lines.join('')
  assert.match(log, /"authorization":"\[Redacted\]"/)
  assert.match(log, /"reason":"the user may not act for the tenant"/)
  assert.equal(log.includes(headers.authorization.slice('Bearer '.length)), false)
  assert.equal(log.includes('secret'), false)
})

test('refusals are audited with their user, if there is one', async (t) => {
  const audited: unknown[] = []
  const authority = await createTestAuthority()
  const app = await operatedApp(authority.options, { write: () => undefined }, (...entry) =>
    audited.push(entry),
  )
  t.after(() => app.close())
  const headers = await authority.headers({ sub: 'dora', resources: { 'lazy-raccoon': [] } })
  await app.inject({ url: '/lazy-raccoon/menu', headers })
  await app.inject({ url: '/busy-beaver/menu', headers })
  await app.inject('/busy-beaver/menu')
  await until(() => audited.length === 2)
  assert.deepEqual(audited, [
    ['ERR_AUTH_TENANT_FORBIDDEN', 'dora', 'busy-beaver'],
    ['ERR_AUTH_TOKEN_MISSING', undefined, 'busy-beaver'],
  ])
})
