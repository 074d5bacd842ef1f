import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import Fastify from 'fastify'
import tenantAuth, { AuthService } from '../lib/index.ts'
import { configError } from './helpers/app/config-error.ts'
import { as, bareApp, trusting, untyped } from './helpers/app/guarded-app.ts'
import { tempFolder } from './helpers/documents/temp-folder.ts'

const folder = tempFolder()

test('an application knows the plugin by its name', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth, trusting())
  assert.equal(app.hasPlugin('fastify-tenant-auth'), true)
})

test('Fastify takes it as far as package.json says', async () => {
  const { peerDependencies } = JSON.parse(await readFile('package.json', 'utf8'))
  const display = Object(tenantAuth)[Symbol.for('plugin-meta')]
  assert.equal(display.fastify, peerDependencies.fastify)
})

test('options that are no object are a boot error of the plugin', async (t) => {
  for (const given of ['x', 5, true]) {
    const app = bareApp(t)
    app.register(tenantAuth, JSON.parse(JSON.stringify(given)))
    await assert.rejects(async () => app.ready(), { code: 'ERR_AUTH_CONFIG_INVALID' })
  }
})

describe('both ways in', () => {
  const ways = {
    plugin: async (app: ReturnType<typeof bareApp>) => {
      await app.register(tenantAuth, trusting())
    },
    'plugin, not awaited': async (app: ReturnType<typeof bareApp>) => {
      void app.register(tenantAuth, trusting())
    },
    service: (app: ReturnType<typeof bareApp>) => new AuthService(trusting()).install(app),
  }
  for (const [way, guard] of Object.entries(ways)) {
    test(`by ${way}: the routes beside it are guarded, and the service is there`, async (t) => {
      const app = bareApp(t)
      await guard(app)
      app.get('/:tenant', { config: { tenant: true } }, async ({ tenant }) => ({ tenant }))
      await app.ready()
      assert.equal(app.authService.constructor, AuthService)
      assert.equal((await app.inject('/lazy-raccoon')).statusCode, 401)
      const response = await app.inject({ url: '/lazy-raccoon', headers: await as() })
      assert.deepEqual(response.json(), { tenant: 'lazy-raccoon' })
    })
  }
})

test("the options of register are not ours, and keep Fastify's meaning", async (t) => {
  const app = bareApp(t)
  const options = { prefix: '/v1', logLevel: 'warn', logSerializers: {} } as const
  await app.register(tenantAuth, { ...trusting(), ...options })
  app.get('/x', async () => 'ok')
  assert.equal((await app.inject('/x')).statusCode, 401)
  assert.equal((await app.inject({ url: '/x', headers: await as() })).statusCode, 200)
})

test('options may come from a function, as with every plugin', async (t) => {
  const app = bareApp(t)
  app.register(tenantAuth, () => trusting())
  app.get('/x', async () => 'ok')
  assert.equal((await app.inject({ url: '/x', headers: await as() })).statusCode, 200)
})

test('registered in a scope, it guards that scope and those below, but not those beside', async (t) => {
  const app = bareApp(t, { logger: { level: 'silent' } })
  app.get('/beside', async () => 'ok')
  app.register(async (scope) => {
    await scope.register(tenantAuth, trusting({ uncovered: 'ignore' }))
    scope.get('/inside', async () => 'ok')
    scope.register(async (below) => {
      below.get('/below', async () => 'ok')
    })
  })
  await app.ready()
  assert.equal((await app.inject('/beside')).statusCode, 200)
  assert.equal((await app.inject('/inside')).statusCode, 401)
  assert.equal((await app.inject('/below')).statusCode, 401)
  assert.equal(app.hasDecorator('authService'), false)
})

describe('a bad configuration stops the boot', () => {
  const missing = `${folder.path}/missing.ini`
  for (const [name, options, part] of [
    ['a misspelt option', { isuer: 'a' }, 'isuer: '],
    ['a bad value', { multitenancy: 'yes' }, 'multitenancy: '],
    ['a missing file', { configFile: missing }, missing],
    ['a missing mock user', { devMode: true, devUserInfoPath: missing }, missing],
    ['Prefix, which register does not take', { Prefix: '/v1' }, 'Prefix: '],
  ] as const) {
    test(`such as ${name}`, async (t) => {
      const awaited = Fastify()
      const registered = async () => awaited.register(tenantAuth, untyped(options))
      await assert.rejects(registered(), configError(part))
      await awaited.close()

      const app = bareApp(t)
      app.register(tenantAuth, untyped(options))
      await assert.rejects(async () => app.ready(), configError(part))
    })
  }
})

test('without options it boots with the defaults', async (t) => {
  const app = bareApp(t)
  await app.register(tenantAuth)
  app.get('/x', async () => 'ok')
  assert.equal((await app.inject('/x')).statusCode, 401)
})

test('an INI file is enough to configure it', async (t) => {
  const configFile = folder.write('[auth]\npublic_keys_url = http://127.0.0.1:1/\nrealm = notes\n')
  const app = bareApp(t)
  await app.register(tenantAuth, { configFile })
  app.get('/x', async () => 'ok')
  const { headers } = await app.inject('/x')
  assert.equal(headers['www-authenticate'], 'Bearer realm="notes"')
})
