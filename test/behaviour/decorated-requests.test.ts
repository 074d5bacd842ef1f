import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import tenantAuth, { errors } from '../../lib/index.ts'
import { configError } from '../helpers/app/config-error.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { outcome } from '../helpers/app/refusals.ts'

const NAMES = ['tenant', 'userInfo', 'resources', 'authorization'] as const

const guard = async (app: FastifyInstance) => {
  await app.register(tenantAuth, trusting())
}

/** What a scope may decorate its requests with. */
const DECORATIONS: readonly [
  what: string,
  decorate: (app: FastifyInstance, name: string) => void,
][] = [
  ['a value', (app, name) => void app.decorateRequest(name, null)],
  ['a function', (app, name) => void app.decorateRequest(name, () => 'other')],
  ['a getter', (app, name) => void app.decorateRequest(name, { getter: () => 'other' })],
]

/** Where the scope stands. */
const PLACES: readonly [
  where: string,
  build: (
    app: FastifyInstance,
    decorated: (scope: FastifyInstance) => Promise<void>,
  ) => Promise<void>,
][] = [
  [
    'below, after the plugin',
    async (app, decorated) => {
      await guard(app)
      await app.register(decorated)
    },
  ],
  [
    'below, before the plugin',
    async (app, decorated) => {
      await app.register(decorated)
      await guard(app)
    },
  ],
  [
    'two floors below',
    async (app, decorated) => {
      await guard(app)
      await app.register(async (child) => void child.register(decorated))
    },
  ],
  [
    'around a scope with the route',
    async (app, decorated) => {
      await guard(app)
      await app.register(async (child) => {
        await decorated(child)
        await child.register(async (inner) => void inner.get('/inner', async () => 'never'))
      })
    },
  ],
]

for (const [where, build] of PLACES) {
  for (const [what, decorate] of DECORATIONS) {
    for (const name of NAMES) {
      for (const hasRoute of [true, false])
        test(`a scope ${where} ${hasRoute ? 'that' : 'without a route that'} decorates requests with ${what} called ${name} stops the boot`, async (t) => {
          const app = bareApp(t)
          await assert.rejects(
            async () => {
              await build(app, async (scope) => {
                decorate(scope, name)
                if (hasRoute) scope.get('/x', async () => 'never')
              })
              await app.ready()
            },
            (error) =>
              error instanceof errors.ERR_AUTH_CONFIG_INVALID && error.message.includes(name),
          )
        })
    }
  }
}

const CURE =
  /^decorateRequest: .*, found userInfo \(boot\): .*; rename that decoration, or remove it and let routes/

for (const [what, decorate] of DECORATIONS) {
  test(`a decoration of the same scope with ${what} stops the boot, before the plugin with the cure`, async (t) => {
    const before = bareApp(t)
    decorate(before, 'userInfo')
    await assert.rejects(async () => guard(before), configError(CURE))
    const after = bareApp(t)
    await guard(after)
    assert.throws(() => decorate(after, 'userInfo'), { code: 'FST_ERR_DEC_ALREADY_PRESENT' })
    decorate(after, 'other')
    assert.equal(after.hasRequestDecorator('other'), true)
  })
}

test('other decorations work, and so do the same names beside the guarded scope', async (t) => {
  const app = bareApp(t)
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting({ uncovered: 'ignore' }))
    child.decorateRequest('tenantName', '')
    await child.register(async (inner) => {
      inner.decorateRequest('colour', 'red')
      inner.get('/:tenant/x', { config: { tenant: true } }, async ({ tenant }) => tenant)
    })
  })
  await app.register(async (sibling) => {
    sibling.decorateRequest('tenant', null)
    sibling.get('/open', async () => 'open')
  })
  const headers = await as()
  assert.equal((await app.inject({ url: '/lazy-raccoon/x', headers })).body, 'lazy-raccoon')
  assert.equal(outcome(await app.inject('/open')), '200')
})

for (const [what, decorate] of DECORATIONS.filter(([kind]) => kind !== 'a function')) {
  test(`without Fastify's symbol a scope with ${what} boots, and no request ends the process`, async (t) => {
    const app = bareApp(t)
    await guard(app)
    await app.register(async (scope) => {
      decorate(scope, 'tenant')
      scope.get('/:tenant/x', { config: { tenant: true } }, async ({ tenant }) => tenant)
    })
    t.mock.method(Object, 'getOwnPropertySymbols', () => [])
    await app.ready()
    const response = await app.inject({ url: '/lazy-raccoon/x', headers: await as() })
    // Fastify's constructor assigns a value. Our own property lets that pass.
    if (what === 'a value') assert.equal(response.body, 'lazy-raccoon')
    else assert.equal(outcome(response), '403 ERR_AUTH_RESOURCE_MISSING')
  })
}
