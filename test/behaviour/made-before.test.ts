import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify, { type FastifyInstance } from 'fastify'

// The package is loaded after the applications are made, as in many CommonJS applications. So
// Fastify has not told the package of them. For this reason all imports of the package stand below.
const lines: string[] = []
const logger = { level: 'warn', stream: { write: (line: string) => void lines.push(line) } }
const applications = Array.from({ length: 8 }, () => Fastify({ logger, exposeHeadRoutes: false }))
const { default: tenantAuth } = await import('../../lib/index.ts')
const { authority, trusting, as } = await import('../helpers/app/guarded-app.ts')
const { assertGuarded, probe } = await import('../../lib/testing.ts')
const { outcome } = await import('../helpers/app/refusals.ts')

const handler = async () => 'x'

function nextApp(t: { after(fn: () => unknown): void }): FastifyInstance {
  const app = applications.pop()
  assert.notEqual(app, undefined, 'one application for each test')
  if (app === undefined) throw new Error('unreachable')
  lines.length = 0
  t.after(() => app.close())
  return app
}

const warnings = (): string[] => lines.map((line) => String(JSON.parse(line).msg))

async function partlyGuarded(app: FastifyInstance, uncovered: 'warn' | 'refuse' = 'warn') {
  let scope = app
  app.get('/open', handler)
  await app.register(async (child) => {
    scope = child
    child.get('/early', { config: { tenant: 'optional' } }, handler)
    await child.register(tenantAuth, trusting({ uncovered }))
    child.get('/late', handler)
  })
  return { scope }
}

/** @fastify/otel does this too: every hook becomes a function of another name. */
function renameHooks(app: FastifyInstance): void {
  const { addHook } = app
  app.addHook = new Proxy(addHook, {
    apply(target, scope, [name, hook]: [string, (...args: unknown[]) => unknown]) {
      // The guard relies on the number of parameters, as other hooks do.
      const wrapped =
        name === 'onRequest'
          ? function handlerWrapped(this: unknown, a: unknown, b: unknown, c: unknown) {
              return hook.call(this, a, b, c)
            }
          : hook
      return Reflect.apply(target, scope, [name, wrapped])
    },
  })
}

test('for an application made before, printed hooks show the routes that no guard covers', async (t) => {
  const app = nextApp(t)
  const { scope } = await partlyGuarded(app)
  await app.ready()
  const line = JSON.parse(lines[0] ?? '{}')
  assert.deepEqual(
    [line.msg, line.routes],
    ['tenant auth: no guard covers these routes', ['GET /open']],
  )
  assert.match(String(warnings()[1]), /1 routes were written before/)
  const listed = scope.authService.routes().map(({ method, url, seen }) => [method, url, seen])
  assert.deepEqual(listed, [
    ['GET', '/late', true],
    ['GET', '/early', false],
  ])
  assert.equal(outcome(await app.inject('/open')), '200')
  const response = await app.inject({ url: '/early', headers: await as() })
  assert.equal(outcome(response), '400 ERR_AUTH_TENANT_MISSING')
})

test('a hook that is named like a guard covers nothing', async (t) => {
  const app = nextApp(t)
  app.get('/open', { onRequest: async function tenantAuthGuard() {} }, handler)
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting({ uncovered: 'refuse' }))
    child.get('/late', handler)
  })
  await assert.rejects(async () => app.ready(), /none on GET \/open/)
})

test('where hooks were renamed, one warning says that coverage cannot be told', async (t) => {
  const app = nextApp(t)
  renameHooks(app)
  await partlyGuarded(app)
  await app.ready()
  const told = warnings().filter((message) => message.includes('cannot be told'))
  assert.equal(told.length, 1)
  assert.equal(outcome(await app.inject('/late')), '401 ERR_AUTH_TOKEN_MISSING')
})

test('where hooks were renamed and uncovered routes are refused, the boot stops', async (t) => {
  const app = nextApp(t)
  renameHooks(app)
  await partlyGuarded(app, 'refuse')
  await assert.rejects(async () => app.ready(), {
    code: 'ERR_AUTH_CONFIG_INVALID',
    message: /hooks whose names another plugin has changed/,
  })
})

test('a guarded scope without routes makes no hook seem renamed', async (t) => {
  const app = nextApp(t)
  app.get('/open', handler)
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting())
  })
  await app.ready()
  assert.deepEqual(warnings(), ['tenant auth: no guard covers these routes'])
})

test('an early route of a place that a later one has too is read strictly', async (t) => {
  const app = nextApp(t)
  const constraints = { version: '1.0.0' }
  app.get('/x', { config: { tenant: 'optional' }, constraints }, handler)
  await app.register(tenantAuth, trusting())
  app.get('/x', { config: { noauth: true } }, handler)
  const headers = { ...(await as()), 'accept-version': '1.x' }
  assert.equal(outcome(await app.inject({ url: '/x', headers })), '400 ERR_AUTH_TENANT_MISSING')
  assert.equal(outcome(await app.inject('/x')), '200')
})

test('a probe asks for the policies of early routes', async (t) => {
  const app = nextApp(t)
  app.get('/:tenant/early', { config: { require: 'a:b' } }, handler)
  app.get('/open', { config: { noauth: true } }, handler)
  await app.register(tenantAuth, trusting())
  app.get('/late', handler)
  const rows = await probe(app, authority)
  assert.deepEqual(
    rows.map((row) => Object.values(row).join(' ')),
    ['GET /late false 401 401  ', 'GET /open true    ', 'GET /:tenant/early false 401 401 403 403'],
  )
  await assertGuarded(app, authority)
})

test('where a hook answers before the guard, a probe does not learn the policy', async (t) => {
  const app = nextApp(t)
  app.addHook('onRequest', async (_request, reply) => reply.code(418).send())
  app.get('/early', handler)
  await app.register(tenantAuth, trusting())
  const rows = await probe(app, authority)
  assert.deepEqual(
    rows.map((row) => Object.values(row).join(' ')),
    ['GET /early  418 418  '],
  )
})
