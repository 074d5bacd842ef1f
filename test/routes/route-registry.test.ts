import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import tenantAuth, { type RouteDeclaration } from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'
import { portOf } from '../helpers/servers/asked-server.ts'

test('if a later onRoute hook replaces the config, the new config holds', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    if (route.url === '/opened') route.config = { noauth: true }
    if (route.url === '/closed') route.config = { require: 'order:erase' }
    if (route.url === '/stripped') delete route.config
  })
  app.get('/opened', { config: { require: 'order:read' } }, async () => 'x')
  app.get('/closed', { config: { noauth: true } }, async () => 'x')
  app.get('/stripped', { config: { noauth: true } }, async () => 'x')
  assert.equal(outcome(await app.inject('/opened')), '200')
  assertRefused(await app.inject('/closed'), 'ERR_AUTH_TOKEN_MISSING')
  assertRefused(await app.inject('/stripped'), 'ERR_AUTH_TOKEN_MISSING')
  const response = await app.inject({ url: '/closed', headers: await as() })
  assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', 'order:erase')
})

test('if a later onRoute hook mutates the config, the mutated config holds', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', ({ url, config }) => {
    if (config && url === '/opened') config.noauth = true
    if (config && url === '/closed') config.require = ['order:erase']
    if (config && url === '/shut') config.noauth = false
  })
  app.get('/opened', { config: {} }, async () => 'x')
  app.get('/closed', { config: {} }, async () => 'x')
  app.get('/shut', { config: { noauth: true } }, async () => 'x')
  assert.equal(outcome(await app.inject('/opened')), '200')
  assertRefused(await app.inject('/shut'), 'ERR_AUTH_TOKEN_MISSING')
  const response = await app.inject({ url: '/closed', headers: await as() })
  assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', 'order:erase')
})

test('a declaration of a later onRoute hook holds to the letter, even in a new config', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    if (route.url === '/x') route.config = { tenant: 'optional' }
  })
  const handler = async (request: FastifyRequest) => ({ tenant: request.tenant })
  app.get('/x', { config: { tenant: 'required' } }, handler)
  app.get('/x', { constraints: { version: '2.0.0' } }, handler)
  const headers = await as()
  for (const version of [{}, { 'accept-version': '2.0.0' }]) {
    const response = await app.inject({ url: '/x', headers: { ...headers, ...version } })
    assert.deepEqual(response.json(), { tenant: null })
  }
})

test('a route that declares nothing keeps its config as it is', async (t) => {
  const app = await guardedApp(t)
  const found: RouteOptions[] = []
  app.addHook('onRoute', (route) => void found.push({ ...route }))
  app.get('/x', async () => 'x')
  await app.ready()
  const ours = found.flatMap((route) => ['config', 'onError'].filter((key) => key in route))
  assert.deepEqual([found.length, ours], [2, []])
})

test('a config copied from a seen route makes no other route seen', async (t) => {
  const app = bareApp(t)
  const scopes: FastifyInstance[] = []
  await app.register(async (child) => void scopes.push(child))
  await app.register(tenantAuth, trusting())
  let config: object = {}
  app.addHook('onRoute', (route) => {
    config = { ...route.config }
  })
  app.get('/x', { config: { tenant: 'optional' } }, async () => 'x')
  // A scope that was there before the plugin. `onRoute` does not see the routes written in it.
  scopes[0]?.get('/y', { config }, async () => 'y')
  const headers = await as()
  assert.equal(outcome(await app.inject({ url: '/x', headers })), '200')
  assertRefused(await app.inject({ url: '/y', headers }), 'ERR_AUTH_TENANT_MISSING')
  assert.deepEqual(
    app.authService.routes().flatMap(({ method, url, seen }) => (seen ? [] : `${method} ${url}`)),
    ['GET /y', 'HEAD /y'],
  )
})

/**
 * Routes of one place with different constraints. One is written before the plugin, one after it.
 */
const TWINS: readonly [early: RouteDeclaration, late: RouteDeclaration | undefined][] = [
  [{ require: 'order:erase' }, undefined],
  [{ require: 'order:erase' }, { noauth: true }],
  [{ tenant: 'optional' }, { tenant: 'optional' }],
]

for (const [early, late] of TWINS) {
  test(`an early route with ${JSON.stringify(early)} is not taken for a later one with ${JSON.stringify(late)}`, async (t) => {
    const app = bareApp(t)
    app.get('/x', { config: early, constraints: { version: '1.0.0' } }, async () => 'x')
    await app.register(tenantAuth, trusting())
    app.get('/x', { ...(late && { config: late }) }, async () => 'x')
    const headers = { ...(await as()), 'accept-version': '1.0.0' }
    const { statusCode } = await app.inject({ url: '/x', headers })
    assert.equal(statusCode, early.tenant ? 400 : 403)
  })
}

test('a contradiction from a later onRoute hook stops the boot', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, noauth: true }
  })
  app.get('/x', { config: { userInfo: true } }, async () => 'never')
  await assert.rejects(async () => app.ready(), { code: 'ERR_AUTH_ROUTE_INVALID' })
})

for (const when of ['before', 'after'] as const) {
  test(`a handler that writes noauth into its config opens nothing, written ${when} the plugin`, async (t) => {
    const app = bareApp(t)
    const plugin = async () => {
      await app.register(tenantAuth, trusting())
    }
    if (when === 'after') await plugin()
    app.get('/x', async (request) => {
      request.routeOptions.config.noauth = true
      return 'opened?'
    })
    if (when === 'before') await plugin()
    const headers = await as()
    assertRefused(await app.inject('/x'), 'ERR_AUTH_TOKEN_MISSING')
    assert.equal(outcome(await app.inject({ url: '/x', headers })), '200')
    assertRefused(await app.inject('/x'), 'ERR_AUTH_TOKEN_MISSING')
  })
}

test('a handler of an open route that closes its config closes nothing', async (t) => {
  const app = await guardedApp(t)
  const config: RouteDeclaration = { noauth: true }
  app.get('/x', { config }, async (request) => {
    request.routeOptions.config.noauth = false
    return 'still open'
  })
  assert.equal(outcome(await app.inject('/x')), '200')
  assert.equal(outcome(await app.inject('/x')), '200')
})

test("changes to the caller's own objects after ready change nothing", async (t) => {
  const app = await guardedApp(t)
  const config = { require: ['order:read'], noauth: false }
  app.get('/:tenant/x', { config }, async () => 'x')
  await app.ready()
  config.require.length = 0
  config.noauth = true
  assertRefused(await app.inject('/lazy-raccoon/x'), 'ERR_AUTH_TOKEN_MISSING')
  const response = await app.inject({ url: '/quiet-otter/x', headers: await as() })
  assertRefused(response, 'ERR_AUTH_RESOURCE_MISSING', 'order:read')
})

test('a request before the policies are compiled is refused, and only that request', async (t) => {
  const app = bareApp(t)
  const server = createServer((request, response) => app.routing(request, response))
  t.after(() => server.close())
  const port = await portOf(server)
  const headers = await as()
  let early = 0
  app.addHook('onReady', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/x`, { headers })
    await response.text()
    early = response.status
  })
  await app.register(tenantAuth, trusting())
  app.get('/x', { config: { tenant: 'optional' } }, async (request) => ({
    tenant: request.tenant,
  }))
  await app.ready()
  assert.equal(early, 403)
  const response = await app.inject({ url: '/x', headers })
  assert.deepEqual(response.json(), { tenant: null })
})
