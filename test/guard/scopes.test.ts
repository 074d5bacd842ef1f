import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { installedGuards } from '../../lib/guard/scopes.ts'
import tenantAuth, { AuthService, errors } from '../../lib/index.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { assertRefused, outcome } from '../helpers/app/refusals.ts'

const guard = async (app: FastifyInstance) => {
  await app.register(tenantAuth, trusting())
}

/** Applications that have a guard already where a second one is installed. */
const SECONDS: readonly [what: string, build: (app: FastifyInstance) => Promise<unknown>][] = [
  [
    'the same scope',
    async (app) => {
      await guard(app)
      await guard(app)
    },
  ],
  [
    'a scope below',
    async (app) => {
      await guard(app)
      await app.register(guard)
    },
  ],
  [
    'a scope further below',
    async (app) => {
      await guard(app)
      await app.register(async (child) => void child.register(guard))
    },
  ],
  [
    'a scope around, which comes later',
    async (app) => {
      await app.register(guard)
      await guard(app)
    },
  ],
  [
    'the same scope, by one service',
    async (app) => {
      const service = new AuthService(trusting())
      await service.install(app)
      await service.install(app)
    },
  ],
]

for (const [where, build] of SECONDS) {
  test(`a second guard in ${where} stops the boot`, async (t) => {
    const app = bareApp(t)
    await assert.rejects(
      async () => {
        await build(app)
        await app.ready()
      },
      (error) =>
        error instanceof errors.ERR_AUTH_CONFIG_INVALID && /found a second/.test(error.message),
    )
  })
}

test('each of two scopes beside each other has its own guard', async (t) => {
  const app = bareApp(t)
  const scope = (realm: string) => async (child: FastifyInstance) => {
    await child.register(tenantAuth, trusting({ realm, uncovered: 'ignore' }))
    child.get(`/${realm}`, { config: { userInfo: true } }, async ({ userInfo }) => userInfo.sub)
  }
  await app.register(scope('one'))
  await app.register(scope('two'))
  app.get('/open', async (request) => Object.hasOwn(request, 'userInfo'))
  const headers = await as()
  for (const realm of ['one', 'two']) {
    const refused = await app.inject(`/${realm}`)
    assert.equal(refused.headers['www-authenticate'], `Bearer realm="${realm}"`)
    assert.equal((await app.inject({ url: `/${realm}`, headers })).body, 'test-user')
  }
  assert.equal(outcome(await app.inject('/open')), '200')
})

test('a guard in a child covers that child only, and 404 of the child stays open', async (t) => {
  const app = bareApp(t)
  app.get('/open', { config: { noauth: true } }, async () => 'x')
  await app.register(
    async (child) => {
      await guard(child)
      child.get('/x', async () => 'x')
    },
    { prefix: '/in' },
  )
  assert.equal(outcome(await app.inject('/open')), '200')
  assertRefused(await app.inject('/in/x'), 'ERR_AUTH_TOKEN_MISSING')
  assert.equal((await app.inject('/in/y')).statusCode, 404)
})

test('two applications are independent, and may share a service', async (t) => {
  const service = new AuthService(trusting())
  const [first, second] = [bareApp(t), bareApp(t)]
  for (const app of [first, second]) {
    await service.install(app)
    app.get('/x', async () => 'x')
    assertRefused(await app.inject('/x'), 'ERR_AUTH_TOKEN_MISSING')
  }
  await first.close()
  const response = await second.inject({ url: '/x', headers: await as() })
  assert.equal(outcome(response), '200')
})

test('the guards of a scope are those in it and below it, or the one around it', async (t) => {
  const app = bareApp(t)
  const names = new Map<FastifyInstance, string>([[app, 'app']])
  for (const name of ['one', 'two', 'three']) {
    await app.register(async (child) => {
      names.set(child, name)
      await child.register(tenantAuth, trusting({ uncovered: 'ignore' }))
      await child.register(async (inner) => void names.set(inner, `in ${name}`))
    })
  }
  await app.register(async (child) => void names.set(child, 'open'))
  await app.ready()
  const found = [...names].map(([scope, name]) => [
    name,
    ...installedGuards(scope).map((guard) => names.get(guard.scope)),
  ])
  assert.deepEqual(found, [
    ['app', 'one', 'two', 'three'],
    ['one', 'one'],
    ['in one', 'one'],
    ['two', 'two'],
    ['in two', 'two'],
    ['three', 'three'],
    ['in three', 'three'],
    ['open'],
  ])
})

test('an application without a guard has none, and a guard is registered with its settings', async (t) => {
  const app = bareApp(t)
  assert.deepEqual(installedGuards(app), [])
  await app.register(tenantAuth, trusting({ realm: 'menus' }))
  const [guard, ...more] = installedGuards(app)
  assert.ok(guard, 'the application is guarded')
  assert.equal(guard.registry.scope === app, true, 'the register of another scope')
  assert.deepEqual([guard.loaded.settings.realm, more], ['menus', []])
})
