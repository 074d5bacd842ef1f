import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { describeGuard } from '../../../lib/routes/openapi.ts'
import { compilePolicy } from '../../../lib/routes/policy.ts'
import { documentedApp } from '../../helpers/documented.ts'

const handler = async () => 'ok'
const rules = { multitenancy: true, devMode: false }
const own401 = { type: 'object', properties: { message: { type: 'string' } } }

function write(app: FastifyInstance): void {
  app.get('/own', { schema: { response: { 401: own401 } } }, handler)
  app.get('/range', { schema: { response: { '4xx': own401 } } }, handler)
  app.get('/plain', handler)
}

test("An application's own bodies are serialized as ever", async () => {
  const described = await documentedApp(write)
  described.swagger()
  const plain = await documentedApp(write, { swagger: { transformObject: () => ({}) } })
  for (const url of ['/own', '/range', '/plain']) {
    const [body, same] = [(await described.inject(url)).body, (await plain.inject(url)).body]
    assert.equal(body, same)
    assert.equal(url === '/plain', body.includes('ERR_AUTH_TOKEN_MISSING'))
  }
  await Promise.all([described.close(), plain.close()])
})

test("No route's schema is touched, so nothing more is compiled at boot", async () => {
  const schemas: FastifySchema[] = []
  const before: string[] = []
  const app = await documentedApp((app) => {
    app.addHook('onRoute', ({ schema = {} }) => {
      schemas.push(schema)
      before.push(JSON.stringify(schema))
    })
    write(app)
    app.get('/:tenant', { schema: { params: { type: 'object', properties: {} } } }, handler)
  })
  app.swagger()
  app.swagger({ yaml: true })
  assert.ok(schemas.length > 4)
  assert.deepEqual(
    schemas.map((schema) => JSON.stringify(schema)),
    before,
  )
  await app.close()
})

test('An application boots as fast as one that describes no guard', async () => {
  const bootTime = async (swagger: FastifyDynamicSwaggerOptions): Promise<number> => {
    const start = performance.now()
    const app = await documentedApp(
      (app) => {
        for (let i = 0; i < 200; i++) {
          app.get(`/${i}`, { schema: { response: { 401: own401 } } }, handler)
        }
      },
      { swagger },
    )
    const elapsed = performance.now() - start
    await app.close()
    return elapsed
  }
  const plain: number[] = []
  const described: number[] = []
  for (let i = 0; i < 4; i++) {
    plain.push(await bootTime({ transformObject: () => ({}) }))
    described.push(await bootTime({}))
  }
  assert.ok(Math.min(...described) < 2 * Math.min(...plain), `${described} to ${plain} ms`)
})

test('The given document is left as it was', async () => {
  const app = await documentedApp(write)
  const document = deepFreeze({
    components: { securitySchemes: {} },
    security: [{ apiKey: [] }],
    paths: { '/own': { parameters: [], get: { parameters: [], responses: {} } } },
  })
  const described = app.authService.openapi(document)
  assert.notDeepEqual(described, document)
  assert.deepEqual(described.security, document.security)
  await app.close()
})

test('Ten times the routes take about ten times the time, up to 10 000', () => {
  const timeOf = (count: number): number => {
    const numbers = Array.from({ length: count }, (_, i) => i)
    const routes = numbers.map((i) => {
      const url = `/:tenant/items-${i}/:id`
      const { policy } = compilePolicy({ url, config: {}, tooEarly: false }, rules)
      return { methods: ['GET'], url, policy, seen: true }
    })
    const paths = Object.fromEntries(
      numbers.map((i) => [`/{tenant}/items-${i}/{id}`, { get: { responses: {} } }]),
    )
    const start = performance.now()
    const described = describeGuard({ paths, servers: [{ url: '/api' }] }, routes, {})
    const elapsed = performance.now() - start
    const operations = Object.values(described.paths).map(({ get }) => Object(get))
    assert.ok(operations.every(({ security, responses }) => security && responses['403']))
    return elapsed
  }
  const fastest = (count: number): number =>
    Math.min(...Array.from({ length: 3 }, () => timeOf(count)))
  const [thousand, tenThousand] = [fastest(1000), fastest(10_000)]
  assert.ok(tenThousand < 40 * thousand, `${tenThousand} to ${thousand} ms`)
})

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (Object(inner) === inner) deepFreeze(inner)
  return Object.freeze(value)
}
