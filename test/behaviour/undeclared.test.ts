import assert from 'node:assert/strict'
import { test } from 'node:test'
import cors from '@fastify/cors'
import tenantAuth, { type RouteDeclaration } from '../../lib/index.ts'
import { as, bareApp, guardedApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'

const WHY =
  'declares neither require nor check nor guests, so any user of its tenant may; require: false says that it is meant'
const checks = { own: () => true }
const handler = async () => 'x'

/** Declarations, and whether the route says who may. */
const DECLARATIONS: readonly [config: RouteDeclaration | undefined, isSaid: boolean][] = [
  [undefined, false],
  [{}, false],
  [{ require: undefined }, false],
  [{ check: false, guests: false, noauth: false }, false],
  [{ tenant: 'required', userInfo: true, resources: true, authorization: true }, false],
  [{ stepUp: { maxAge: 60 } }, false],
  [{ require: false }, true],
  [{ require: 'a:b' }, true],
  [{ require: { by: () => 'a:b', among: ['a:b'] } }, true],
  [{ check: 'own' }, true],
  [{ guests: true }, true],
  [{ noauth: true }, true],
  [{ noauth: true, check: 'own' }, true],
]

for (const [config, isSaid] of DECLARATIONS) {
  test(`a route with ${JSON.stringify(config)} ${isSaid ? 'says' : 'does not say'} who may`, async (t) => {
    const options = config === undefined ? {} : { config }
    for (const isEarly of [false, true]) {
      const app = bareApp(t)
      if (isEarly) app.get('/x', options, handler)
      await app.register(tenantAuth, trusting({ checks, undeclared: 'refuse' }))
      if (!isEarly) app.get('/x', options, handler)
      const boot = async () => app.ready()
      const refusal = { code: 'ERR_AUTH_ROUTE_INVALID', message: `GET /x: ${WHY}` }
      if (isSaid) await boot()
      else await assert.rejects(boot, refusal)
    }
  })
}

test('require: false requires nothing', async (t) => {
  const app = await guardedApp(t, { undeclared: 'refuse' })
  app.get('/x', { config: { require: false } }, handler)
  assert.equal(outcome(await app.inject('/x')), '401 ERR_AUTH_TOKEN_MISSING')
  assert.equal(outcome(await app.inject({ url: '/x', headers: await as({}) })), '200')
})

test('all routes are named at once, beside the mistakes of others', async (t) => {
  const app = await guardedApp(t, { undeclared: 'refuse' })
  app.get('/a', handler)
  app.get('/b', { config: { require: [] } }, handler)
  app.route({ method: ['PUT', 'POST'], url: '/:tenant/c', handler })
  await assert.rejects(
    async () => app.ready(),
    ({ message }: Error) => {
      const lines = message.split('\n')
      assert.equal(lines.length, 3)
      assert.match(lines[0] ?? '', /^GET \/b: require is empty/)
      assert.deepEqual(lines.slice(1), [`GET /a: ${WHY}`, `PUT, POST /:tenant/c: ${WHY}`])
      return true
    },
  )
})

for (const undeclared of ['warn', 'ignore', undefined] as const) {
  test(`with ${undeclared ?? 'nothing'} the boot goes on, and ${undeclared === 'warn' ? 'one line lists the routes' : 'nothing is said'}`, async (t) => {
    const log = logLines()
    const app = bareApp(t, { logger: log.logger, exposeHeadRoutes: false })
    await app.register(cors)
    app.get('/early', handler)
    await app.register(tenantAuth, trusting({ ...(undeclared && { undeclared }) }))
    app.get('/a', handler)
    app.get('/:tenant/b', handler)
    app.get('/c', { config: { require: false } }, handler)
    await app.ready()
    const lines = log.lines('tenant auth: any user of their tenant may use these routes')
    const routes = lines.map(({ level, routes }) => [level, routes])
    const listed = [40, ['GET /a', 'GET /:tenant/b', 'GET /early']]
    assert.deepEqual(routes, undeclared === 'warn' ? [listed] : [])
  })
}

test("@fastify/cors's own route is none of the application's", async (t) => {
  const app = bareApp(t)
  await app.register(cors)
  await app.register(tenantAuth, trusting({ undeclared: 'refuse' }))
  await app.ready()
})
