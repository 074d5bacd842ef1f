import assert from 'node:assert/strict'
import { test } from 'node:test'
import tenantAuth, { publicScope } from '../../lib/index.ts'
import { as, authority, bareApp, guardedApp } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

// TypeScript refuses these routes, and JavaScript has no compiler.

for (const [key, value] of [
  ['noauth', true],
  ['tenant', 'required'],
  ['userInfo', true],
  ['resources', true],
  ['authorization', true],
  ['require', 'order:delete'],
  ['require', null],
] as const) {
  const cure = `where it declares nothing; write { config: { ${key}: … } }`
  const namesKey = ({ code, message }: Error & { readonly code?: string }) => {
    assert.equal(code, 'ERR_AUTH_ROUTE_INVALID')
    assert.ok(message.includes(` /x: ${key} is beside config, ${cure}`), message)
    return true
  }

  test(`${key}: ${value} beside config stops the boot, by any way to write a route`, async (t) => {
    const ways: readonly ((app: Awaited<ReturnType<typeof guardedApp>>) => unknown)[] = [
      (app) => app.get('/x', Object({ [key]: value }), () => 'x'),
      (app) => app.route(Object({ method: 'GET', url: '/x', [key]: value, handler: () => 'x' })),
      (app) => app.get('/x', Object({ config: { userInfo: true }, [key]: value }), () => 'x'),
      (app) => app.all('/x', Object({ config: { noauth: false }, [key]: value }), () => 'x'),
    ]
    for (const write of ways) {
      const app = await guardedApp(t)
      write(app)
      await assert.rejects(async () => app.ready(), namesKey)
    }
  })
}

for (const value of [false, undefined]) {
  test(`require: ${value} beside config declares nothing, and means nothing`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', Object({ require: value }), () => 'x')
    assert.equal(outcome(await app.inject({ url: '/x', headers: await as() })), '200')
  })
}

test('a hook of the application may move it into config', async (t) => {
  const app = await guardedApp(t)
  app.addHook('onRoute', (route) => {
    const given: unknown = Reflect.get(route, 'require')
    if (typeof given !== 'string') return
    route.config = { ...route.config, require: given }
    Reflect.deleteProperty(route, 'require')
  })
  app.get('/x', Object({ require: 'order:delete' }), () => 'x')
  const headers = await as({ '*': ['menu:read'] })
  assert.equal(outcome(await app.inject({ url: '/x', headers })), '403 ERR_AUTH_RESOURCE_MISSING')
})

test('open routes, and those that no guard covers, may have such keys of other plugins', async (t) => {
  const app = bareApp(t)
  app.register(async (scope) => {
    await scope.register(tenantAuth, { ...authority.options, uncovered: 'ignore' })
    scope.get('/open', Object({ config: { noauth: true }, resources: ['a'] }), () => 'x')
    await scope.register(
      publicScope(async (open) => {
        open.get('/plugin', Object({ tenant: 'their own' }), () => 'x')
      }),
    )
  })
  app.get('/uncovered', Object({ tenant: 'their own' }), () => 'x')
  for (const url of ['/open', '/plugin', '/uncovered']) {
    assert.equal(outcome(await app.inject(url)), '200')
  }
})

for (const [config, key, value] of [
  [{ noauth: true }, 'check', 'hook'],
  [{ noauth: true, tenant: true }, 'check', ['hook']],
  [{ noauth: true, check: 'hook' }, 'tenant', 'required'],
  [{ noauth: true, tenant: true }, 'suspended', true],
] as const) {
  const declared = Object.keys(config).join(' and ')
  test(`${key} beside ${declared} stops the boot, and closes an early route`, async (t) => {
    const options = { checks: { hook: () => true }, tenants: ['acme'] }
    const app = await guardedApp(t, options)
    app.get('/x', Object({ config, [key]: value }), () => 'x')
    await assert.rejects(async () => app.ready(), new RegExp(` /x: ${key} is beside config`))
    const early = bareApp(t)
    early.get('/x', Object({ config, [key]: value }), () => 'x')
    await early.register(tenantAuth, { ...authority.options, ...options })
    assert.equal(outcome(await early.inject('/x?tenant=acme')), '401 ERR_AUTH_TOKEN_MISSING')
  })
}

test('an early route with a requirement beside config is open to nobody', async (t) => {
  const app = bareApp(t)
  app.get('/x', Object({ require: 'order:delete' }), () => 'x')
  app.get('/y', Object({ userInfo: true }), () => 'x')
  await app.register(tenantAuth, authority.options)
  const headers = await as({ '*': ['order:delete'] })
  assert.equal(outcome(await app.inject({ url: '/x', headers })), '403 ERR_AUTH_RESOURCE_MISSING')
  assert.equal(outcome(await app.inject('/x')), '401 ERR_AUTH_TOKEN_MISSING')
  assert.equal(outcome(await app.inject({ url: '/y', headers })), '200')
})
