import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyServerOptions } from 'fastify'
import { as, guardedApp } from '../helpers/app/guarded-app.ts'
import { assertRefused } from '../helpers/app/refusals.ts'

/** Ways in which the router takes one path for another, and a path that reaches `/Admin/x`. */
const SPELLINGS: readonly [what: string, server: FastifyServerOptions, url: string][] = [
  ['another case', { routerOptions: { caseSensitive: false } }, '/aDMIN/X'],
  ['a slash at the end', { routerOptions: { ignoreTrailingSlash: true } }, '/Admin/x/'],
  ['slashes twice', { routerOptions: { ignoreDuplicateSlashes: true } }, '//Admin///x'],
  ['encoded letters', {}, '/%41dmin/x'],
  ['a query', {}, '/Admin/x?/open'],
  ['a rewritten url', { rewriteUrl: () => '/Admin/x' }, '/open'],
]

for (const [what, server, url] of SPELLINGS) {
  test(`${what} leads to the same route and the same guard`, async (t) => {
    const app = await guardedApp(t, {}, server)
    app.get('/Admin/x', async () => 'x')
    app.get('/open', { config: { noauth: true } }, async () => 'open')
    assertRefused(await app.inject(url), 'ERR_AUTH_TOKEN_MISSING')
    const response = await app.inject({ url, headers: await as() })
    assert.equal(response.body, 'x')
  })
}

/** Requests that Fastify answers itself, without any hook. */
const WITHOUT_HOOKS: readonly [what: string, url: string, status: number][] = [
  ['a malformed path', '/%E0%A4%A/x', 400],
  ['too long a parameter', `/${'a'.repeat(101)}/x`, 414],
]

for (const [what, url, status] of WITHOUT_HOOKS) {
  test(`${what} is answered with ${status}, and no handler runs`, async (t) => {
    const app = await guardedApp(t)
    let ran = 0
    app.get('/:tenant/x', async () => {
      ran++
    })
    assert.equal((await app.inject(url)).statusCode, status)
    assert.equal((await app.inject({ url, headers: await as() })).statusCode, status)
    assert.equal(ran, 0)
  })
}

test('a static path goes before a tenant of the same name', async (t) => {
  const app = await guardedApp(t)
  app.get('/open/x', { config: { noauth: true } }, async () => 'static')
  app.get('/:tenant/x', { config: { tenant: true } }, async (request) => request.tenant)
  assert.equal((await app.inject('/open/x')).body, 'static')
  assertRefused(await app.inject('/opened/x'), 'ERR_AUTH_TOKEN_MISSING')
})

test('a literal colon before a tenant does not belong to its name', async (t) => {
  const app = await guardedApp(t)
  app.get('/x::y:tenant', { config: { tenant: true } }, async (request) => request.tenant)
  const ask = async (url: string) => app.inject({ url, headers: await as() })
  assert.equal((await ask('/x:ylazy-raccoon')).body, 'lazy-raccoon')
  assertRefused(await ask('/x:ybusy-beaver?tenant=lazy-raccoon'), 'ERR_AUTH_TENANT_FORBIDDEN')
})

test('a colon within the name of a parameter does not make a tenant of it', async (t) => {
  const app = await guardedApp(t)
  app.get('/:a:tenant', async (request) => ({ tenant: request.tenant, ...Object(request.params) }))
  const response = await app.inject({ url: '/busy-beaver', headers: await as() })
  assert.deepEqual(response.json(), { 'a:tenant': 'busy-beaver' })
})
