import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import tenantAuth, { errors, publicScope } from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

const page = async (app: FastifyInstance) => {
  app.get('/page', async () => 'page')
}

const nested = async (app: FastifyInstance) => {
  app.register(async (child) => {
    child.register(page)
  })
}

const callback = (app: FastifyInstance, _options: object, done: () => void) => {
  app.get('/page', async () => 'page')
  setImmediate(done)
}

/** Plugins of all kinds, their options, and the address of their page. */
const PLUGINS: readonly [
  what: string,
  plugin: typeof page | typeof callback,
  options: object,
  url: string,
][] = [
  ['a plain plugin', page, {}, '/page'],
  ['a plain plugin with a prefix', page, { prefix: '/docs' }, '/docs/page'],
  // fastify-plugin marks the function that it gets.
  ['a plugin by fastify-plugin', fp(async (app: FastifyInstance) => page(app)), {}, '/page'],
  ['a plugin with a callback', callback, { prefix: '/docs' }, '/docs/page'],
  ['a plugin with children', nested, { prefix: '/docs' }, '/docs/page'],
]

for (const [what, plugin, options, url] of PLUGINS) {
  for (const when of ['before', 'after'] as const) {
    test(`the routes of ${what}, registered ${when} the guard, are open`, async (t) => {
      const app = bareApp(t)
      const open = async () => {
        await app.register(publicScope(plugin), options)
      }
      if (when === 'before') await open()
      await app.register(tenantAuth, trusting())
      if (when === 'after') await open()
      app.get('/closed', async () => 'never')
      assert.equal((await app.inject(url)).body, 'page')
      assert.equal((await app.inject({ method: 'HEAD', url })).statusCode, 200)
      assertRefused(await app.inject('/closed'), 'ERR_AUTH_TOKEN_MISSING')
    })
  }
}

test('the plugin gets its options, and its decorators stay in its scope', async (t) => {
  const app = await guardedApp(t)
  const plugin = fp(async (scope: FastifyInstance, options: { word: string }) => {
    scope.decorate('word', options.word)
    scope.get('/word', async () => options.word)
  })
  await app.register(publicScope(plugin), { word: 'open' })
  assert.equal((await app.inject('/word')).body, 'open')
  assert.equal(app.hasDecorator('word'), false)
})

test('a guarded route that contradicts a public scope stops the boot', async (t) => {
  const app = await guardedApp(t)
  const plugin = async (scope: FastifyInstance) => {
    scope.get('/x', { config: { require: 'a:b' } }, async () => 'never')
  }
  await app.register(publicScope(plugin))
  await assert.rejects(async () => app.ready(), { code: 'ERR_AUTH_ROUTE_INVALID' })
})

/** Plugins that add no route, so a public scope around them is a mistake. */
const EMPTY: readonly [what: string, plugin: typeof page | typeof callback][] = [
  ['a plugin', async () => {}],
  ['a plugin by fastify-plugin', fp(async () => {})],
  [
    'a plugin with a callback',
    (_app: FastifyInstance, _options: object, done: () => void) => done(),
  ],
]

for (const [what, plugin] of EMPTY) {
  test(`around ${what} that adds no route it stops the boot`, async (t) => {
    const app = await guardedApp(t)
    app.get('/x', async () => 'x')
    await assert.rejects(
      async () => {
        await app.register(publicScope(plugin))
        await app.ready()
      },
      (error) => error instanceof errors.ERR_AUTH_CONFIG_INVALID && /adds none/.test(error.message),
    )
  })
}

test('an error of the plugin stops the boot unchanged', async (t) => {
  const app = await guardedApp(t)
  const plugin = async () => {
    throw new RangeError('its own')
  }
  await assert.rejects(async () => {
    await app.register(publicScope(plugin))
    await app.ready()
  }, new RangeError('its own'))
})

test('the same plugin outside a public scope stays closed', async (t) => {
  const app = await guardedApp(t)
  await app.register(publicScope(page), { prefix: '/open' })
  await app.register(page, { prefix: '/closed' })
  assert.equal(outcome(await app.inject('/open/page')), '200')
  assertRefused(await app.inject('/closed/page'), 'ERR_AUTH_TOKEN_MISSING')
  const response = await app.inject({ url: '/closed/page', headers: await as() })
  assert.equal(outcome(response), '200')
})

for (const when of ['before', 'after'] as const) {
  test(`a config object that other routes share does not open them, ${when} the guard`, async (t) => {
    const app = bareApp(t)
    const config = {}
    const plugin = async (scope: FastifyInstance) => {
      scope.get('/a', { config }, async () => 'a')
    }
    if (when === 'after') await app.register(tenantAuth, trusting())
    await app.register(publicScope(plugin))
    app.get('/b', { config }, async () => 'never')
    if (when === 'before') await app.register(tenantAuth, trusting())
    assert.equal(outcome(await app.inject('/a')), '200')
    assertRefused(await app.inject('/b'), 'ERR_AUTH_TOKEN_MISSING')
    assert.deepEqual(config, {})
  })
}
