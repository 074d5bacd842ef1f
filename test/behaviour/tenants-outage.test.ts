import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'
import { holdTime } from '../helpers/processes/age-by-date.ts'
import { until } from '../helpers/processes/until.ts'
import { json, tenantServer } from '../helpers/servers/tenant-server.ts'

const USER = await as({ real: [], ghost: [] })
const UNKNOWN = '404 ERR_AUTH_TENANT_UNKNOWN'

test('the list of a URL is fetched once, and knows the tenants on it', async (t) => {
  const server = await tenantServer('["real","other"]')
  const app = await guardedApp(t, { tenants: server.url })
  app.get('/:tenant/x', async () => 'x')
  await app.ready()
  const get = (tenant: string) => app.inject({ url: `/${tenant}/x`, headers: USER })
  const together = await Promise.all(['real', 'ghost', 'real'].map(get))
  assert.deepEqual(together.map(outcome), ['200', UNKNOWN, '200'])
  assert.equal(outcome(await get('ghost')), UNKNOWN)
  assert.equal(server.count, 1)
  assert.equal(app.authService.isReady(), true)
})

test('an empty list is a list: no tenant exists', async (t) => {
  const server = await tenantServer('[]')
  const app = await guardedApp(t, { tenants: server.url })
  app.get('/:tenant/x', async () => 'x')
  assert.equal(outcome(await app.inject({ url: '/real/x', headers: USER })), UNKNOWN)
})

/** Answers that are not a list of tenants. */
const BAD_ANSWERS: readonly [what: string, answer: (response: ServerResponse) => void][] = [
  ['is an error', json('["real"]', 500)],
  ['is a redirect', (response) => response.writeHead(302, { location: '/real' }).end()],
  ['is no JSON', json('<html>real</html>')],
  ['breaks off', json('["real"')],
  ['is an object', json('{"real":true}')],
  ['holds *', json('["real","*"]')],
  ['holds a control character', json('["real","a\\u0000"]')],
  ['is no answer', (response) => response.destroy()],
  ['hangs', () => {}],
]

for (const [what, answer] of BAD_ANSWERS) {
  test(`a list that ${what} is a 503 with Retry-After, never an open door`, async (t) => {
    const server = await tenantServer('')
    server.answer = answer
    const tenantsTimeout = what === 'hangs' ? 0.2 : 5
    const app = await guardedApp(t, { tenants: server.url, tenantsTimeout, keysRetry: 60 })
    app.get('/:tenant/x', async () => 'never')
    app.get('/x', async () => 'x')
    const first = await app.inject({ url: '/real/x', headers: USER })
    assertRefused(first, 'ERR_AUTH_TENANTS_UNAVAILABLE')
    const second = await app.inject({ url: '/ghost/x', headers: USER })
    assertRefused(second, 'ERR_AUTH_TENANTS_UNAVAILABLE')
    const wait = Number(second.headers['retry-after'])
    assert.ok(wait > 50 && wait <= 60, `Retry-After: ${wait}`)
    assert.equal(server.count, 1)
    assert.equal(app.authService.isReady(), false)
    // Without a tenant in the request, the list does not matter.
    assert.equal(outcome(await app.inject({ url: '/x', headers: USER })), '200')
  })
}

test('tenantsTimeout ends a fetch of the list that hangs, and no earlier', async (t) => {
  holdTime(t, { apis: ['Date', 'setTimeout'], now: Date.now() })
  const server = await tenantServer('')
  const isAsked = new Promise<void>((resolve) => {
    server.answer = () => resolve()
  })
  const app = await guardedApp(t, { tenants: server.url, tenantsTimeout: 7 })
  app.get('/:tenant/x', async () => 'never')
  const asked = app.inject({ url: '/real/x', headers: USER })
  await isAsked
  const failure = () => app.authService.stats().documents.at(-1)?.failure
  t.mock.timers.tick(6900)
  await setImmediate()
  assert.equal(failure(), null)
  t.mock.timers.tick(100)
  assertRefused(await asked, 'ERR_AUTH_TENANTS_UNAVAILABLE')
  assert.equal(failure(), 'no answer in time')
})

test('a user who may not act for a tenant gets 403, even while the list cannot be had', async (t) => {
  const server = await tenantServer('junk')
  const app = await guardedApp(t, { tenants: server.url })
  app.get('/:tenant/x', async () => 'never')
  const response = await app.inject({ url: '/other/x', headers: USER })
  assertRefused(response, 'ERR_AUTH_TENANT_FORBIDDEN')
})

test('a bad answer never replaces a good list', async (t) => {
  const server = await tenantServer('["real"]')
  const app = await guardedApp(t, { tenants: server.url, tenantsMaxAge: 0.05, keysRetry: 0.02 })
  app.get('/:tenant/x', async () => 'x')
  const get = () => app.inject({ url: '/real/x', headers: USER })
  assert.equal(outcome(await get()), '200')
  server.answer = json('{}')
  const { count } = server
  for (const asked of [1, 2, 3]) {
    await until(() => server.count >= count + asked)
    assert.equal(outcome(await get()), '200')
  }
})

test('requests that waited for one answer have an error each, which hooks may write into', async (t) => {
  let fail = (_: Error) => {}
  const tenants = () =>
    new Promise<boolean>((_, reject) => {
      fail = reject
    })
  const app = await guardedApp(t, { tenants })
  app.setErrorHandler((error, request, reply) => {
    const noted = Object(error)
    noted.seen ??= request.id
    return reply.code(503).send({ seen: noted.seen, id: request.id })
  })
  app.get('/:tenant/x', async () => 'never')
  await app.ready()
  const get = () => app.inject({ url: '/real/x', headers: USER })
  const together = [get(), get()]
  await setImmediate()
  fail(new Error('away'))
  for (const { seen, id } of (await Promise.all(together)).map((response) => response.json())) {
    assert.equal(seen, id)
  }
})
