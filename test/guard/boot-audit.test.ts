import assert from 'node:assert/strict'
import { test } from 'node:test'
import cors from '@fastify/cors'
import middie from '@fastify/middie'
import type { FastifyInstance } from 'fastify'
import tenantAuth from '../../lib/index.ts'
import { bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'

const guard = async (app: FastifyInstance) => {
  await app.register(tenantAuth, trusting())
}

const crossOrigin = async (app: FastifyInstance) => {
  await app.register(cors, { origin: true })
}

const middleware = async (app: FastifyInstance) => {
  await app.register(middie)
}

/** The plugin in a scope of its own. */
const below = (plugin: typeof guard) => async (app: FastifyInstance) => {
  await app.register(async (scope) => {
    await plugin(scope)
    scope.get('/open', { config: { noauth: true } }, async () => 'x')
  })
}

/** Plugins in an order, and the beginning of its warning; null: no warning. */
const ORDERS: readonly [what: string, plugins: (typeof guard)[], warning: RegExp | null][] = [
  ['@fastify/cors before the guard', [crossOrigin, guard], null],
  ['@fastify/cors after the guard', [guard, crossOrigin], /@fastify\/cors is registered after/],
  ['@fastify/middie after the guard', [guard, middleware], null],
  [
    '@fastify/middie before the guard',
    [middleware, guard],
    /@fastify\/middie is registered before/,
  ],
  ['@fastify/cors in a scope below, before the guard', [below(crossOrigin), guard], null],
  [
    '@fastify/middie in a scope below, before the guard',
    [below(middleware), guard],
    /@fastify\/middie is registered before/,
  ],
  ['both where they belong', [crossOrigin, guard, middleware], null],
]

for (const [what, plugins, warning] of ORDERS) {
  test(`${what}: ${warning === null ? 'no warning' : 'one warning'}`, async (t) => {
    const { logger, messages } = logLines()
    const app = bareApp(t, { logger })
    for (const plugin of plugins) await plugin(app)
    app.get('/x', async () => 'x')
    app.get('/y', async () => 'y')
    await app.ready()
    const [first, ...more] = messages(40)
    if (warning === null) assert.equal(first, undefined)
    else assert.match(String(first), warning)
    assert.deepEqual(more, [])
  })
}

test('a neighbour deep in the application is found too', async (t) => {
  const { logger, messages } = logLines()
  const app = bareApp(t, { logger })
  await guard(app)
  await app.register(async (outer) => {
    await outer.register(async (inner) => {
      await crossOrigin(inner)
      inner.get('/x', async () => 'x')
    })
  })
  await app.ready()
  assert.match(String(messages(40)[0]), /@fastify\/cors is registered after/)
})
