import assert from 'node:assert/strict'
import { test } from 'node:test'
import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import { describeGuard } from '../../lib/openapi/describe.ts'
import { readDeclaration } from '../../lib/routes/declaration.ts'
import { compilePolicy } from '../../lib/routes/policy.ts'
import { SIDES } from '../helpers/app/beside.ts'
import { DEFAULT_RULES, documentedApp } from '../helpers/documents/documented.ts'

const handler = async () => 'ok'
const message = { type: 'object', properties: { message: { type: 'string' } } }
const object = { type: 'object', properties: {} }

function write(app: FastifyInstance): void {
  app.get('/own', { schema: { response: { 401: message } } }, handler)
  app.get('/range', { schema: { response: { '4xx': message } } }, handler)
  app.get('/plain', handler)
  app.get('/full', async (_, reply) => reply.code(503).send({ queue: 7 }))
  app.get('/:tenant', { schema: { params: object, querystring: object } }, handler)
}

test("A refusal's body is what the application's schema says, and otherwise has all of its members", async (t) => {
  const app = await documentedApp(t, write)
  app.swagger()
  for (const [url, members] of [
    ['/own', ['message']],
    ['/range', ['message']],
    ['/plain', ['statusCode', 'code', 'error', 'message']],
  ] as const) {
    assert.deepEqual(Object.keys((await app.inject(url)).json()), members, url)
  }
})

test("A handler's own body with one of our statuses is sent whole", async (t) => {
  const authority = await createTestAuthority()
  const app = await documentedApp(t, write, { auth: authority.options })
  app.swagger()
  const response = await app.inject({ url: '/full', headers: await authority.headers() })
  assert.equal(response.statusCode, 503)
  assert.deepEqual(response.json(), { queue: 7 })
})

/** What Fastify compiles for these routes, and which schemas they have in the end. */
class Watch {
  readonly #compiled: string[] = []
  readonly #routes: RouteOptions[] = []

  write(app: FastifyInstance): void {
    app.setValidatorCompiler(({ method, url, httpPart }) => {
      this.#compiled.push(`${method} ${url} ${httpPart}`)
      return () => true
    })
    app.setSerializerCompiler(({ method, url, httpStatus }) => {
      this.#compiled.push(`${method} ${url} ${httpStatus}`)
      return JSON.stringify
    })
    app.addHook('onRoute', (options) => void this.#routes.push(options))
    write(app)
  }

  get seen() {
    const schemas = this.#routes.map(({ method, url, schema }) => [method, url, schema])
    return { compiled: this.#compiled, schemas: JSON.stringify(schemas) }
  }
}

for (const side of SIDES) {
  test(`No route gets a schema or more to compile, with @fastify/swagger ${side} the guard`, async (t) => {
    const guarded = new Watch()
    const app = await documentedApp(t, (app) => guarded.write(app), { side })
    app.swagger()
    app.swagger({ yaml: true })

    const unguarded = new Watch()
    const plain = Fastify()
    await plain.register(swagger, { openapi: { info: { title: 'test', version: '1' } } })
    unguarded.write(plain)
    await plain.ready()
    await plain.close()

    assert.ok(unguarded.seen.compiled.includes('GET /own 401'), 'what is compiled is seen')
    assert.deepEqual(guarded.seen, unguarded.seen)
  })
}

test('Ten times the routes take about ten times the time, up to 10 000', () => {
  const timeOf = (count: number): number => {
    const numbers = Array.from({ length: count }, (_, i) => i)
    const routes = numbers.map((i) => {
      const url = `/:tenant/items-${i}/:id`
      const { policy } = compilePolicy(
        { url, ...readDeclaration({}), strict: false },
        DEFAULT_RULES,
      )
      return { methods: ['GET'], url, policy }
    })
    const paths = Object.fromEntries(
      numbers.map((i) => [`/{tenant}/items-${i}/{id}`, { get: { responses: {} } }]),
    )
    const start = performance.now()
    const described = describeGuard({ paths, servers: [{ url: '/api' }] }, routes, DEFAULT_RULES)
    const elapsed = performance.now() - start
    const operations = Object.values(described.paths).map(({ get }) => Object(get))
    const isDescribed = operations.every(({ security, responses }) => security && responses['403'])
    assert.ok(isDescribed, 'every operation is described')
    return elapsed
  }
  const fastest = (count: number): number =>
    Math.min(...Array.from({ length: 3 }, () => timeOf(count)))
  const [thousand, tenThousand] = [fastest(1000), fastest(10_000)]
  assert.ok(tenThousand < 40 * thousand, `${tenThousand} to ${thousand} ms`)
})
