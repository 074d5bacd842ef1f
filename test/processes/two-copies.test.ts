import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import Fastify from 'fastify'
import { as, authority, trusting } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'
import { installBuilt } from '../helpers/documents/built-package.ts'
import { tempFolder } from '../helpers/documents/temp-folder.ts'

type Package = typeof import('../../lib/index.ts')
type Testing = typeof import('../../lib/entrypoints/testing/index.ts')
interface Copy {
  readonly name: string
  readonly plugin: Package['default']
  readonly assertGuarded: Testing['assertGuarded']
}

const home = mkdtempSync(join(tempFolder().path, 'copy '))
installBuilt(home)
const built = (file: string) =>
  import(pathToFileURL(join(home, 'node_modules/fastify-tenant-auth/dist', file)).href)

const copyOf = (name: string, { default: plugin }: Package, { assertGuarded }: Testing): Copy => ({
  name,
  plugin,
  assertGuarded,
})
const first = copyOf(
  'first',
  await import('../../lib/index.ts'),
  await import('../../lib/entrypoints/testing/index.ts'),
)
const second = copyOf(
  'second',
  await built('index.js'),
  await built('entrypoints/testing/index.js'),
)

for (const { name, plugin, assertGuarded } of [first, second]) {
  test(`the guard of the ${name} of two copies knows the routes of its application`, async (t) => {
    const app = Fastify()
    t.after(() => app.close())
    app.get('/early', async () => 'x')
    await app.register(plugin, trusting())
    app.get('/late', async () => 'x')
    app.get('/open', { config: { noauth: true } }, async () => 'x')
    const headers = await as()
    for (const url of ['/early', '/late']) {
      assert.equal(outcome(await app.inject(url)), '401 ERR_AUTH_TOKEN_MISSING')
      assert.equal(outcome(await app.inject({ url, headers })), '200')
    }
    assert.equal(outcome(await app.inject('/open')), '200')
    await assertGuarded(app, authority)
  })

  test(`a handler that a hook gives a route is guarded by the ${name} of two copies`, async (t) => {
    const app = Fastify()
    t.after(() => app.close())
    await app.register(plugin, trusting())
    app.addHook('onRoute', (route) => {
      route.handler = async () => 'another'
    })
    app.get('/x', async () => 'x')
    await app.ready()
    assert.equal(outcome(await app.inject('/x')), '401 ERR_AUTH_TOKEN_MISSING')
    assert.equal(outcome(await app.inject({ url: '/x', headers: await as() })), '200')
  })
}

test('guards of two copies beside each other cover their own routes', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  for (const { name, plugin } of [first, second]) {
    app.register(async (scope) => {
      await scope.register(plugin, trusting())
      scope.get(`/${name}`, { config: { require: 'a:b' } }, async () => 'x')
    })
  }
  await app.ready()
  for (const { name } of [first, second]) {
    assert.equal(outcome(await app.inject(`/${name}`)), '401 ERR_AUTH_TOKEN_MISSING')
  }
})

test('a second guard stops the boot as such, though it is of another copy', async (t) => {
  for (const inner of [false, true]) {
    const app = Fastify()
    t.after(() => app.close())
    await app.register(first.plugin, trusting())
    if (inner) app.register(async (scope) => void scope.register(second.plugin, trusting()))
    else app.register(second.plugin, trusting())
    await assert.rejects(async () => app.ready(), {
      code: 'ERR_AUTH_CONFIG_INVALID',
      message: /found a second \(code\): register the plugin once$/,
    })
  }
})

test('two copies may probe one application at once, and no handler runs', async (t) => {
  const app = Fastify()
  t.after(() => app.close())
  let ran = 0
  const handler = async () => {
    ran += 1
  }
  for (const [index, { plugin }] of [first, second].entries()) {
    // The router prefers it to the guarded wildcard.
    app.get(`/${index}/probe`, handler)
    app.register(async (scope) => {
      await scope.register(plugin, trusting({ uncovered: 'ignore' }))
      scope.get(`/${index}/*`, handler)
    })
  }
  await app.ready()
  const probes = [first, second].map(({ assertGuarded }) => assertGuarded(app, authority))
  for (const { status } of await Promise.allSettled(probes)) assert.equal(status, 'rejected')
  assert.equal(ran, 0)
})
