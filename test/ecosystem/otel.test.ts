import assert from 'node:assert/strict'
import { test } from 'node:test'
import cors from '@fastify/cors'
import middie from '@fastify/middie'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import type { FastifyInstance } from 'fastify'
import tenantAuth from '../../lib/index.ts'
import { as, bareApp, trusting } from '../helpers/app/guarded-app.ts'
import { logLines } from '../helpers/app/log-lines.ts'
import { outcome } from '../helpers/app/refusals.ts'

// @fastify/otel wraps every later hook in a function of its own name.
const exporter = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(exporter)],
})
const handler = async () => 'x'

/** An application with @fastify/otel, and a guarded child of it. */
async function traced(app: FastifyInstance): Promise<void> {
  const instrumentation = new FastifyOtelInstrumentation({ registerOnInitialization: false })
  instrumentation.setTracerProvider(tracerProvider)
  await app.register(instrumentation.plugin())
}

test('with @fastify/otel before the guard, routes of a guarded child count as covered, others as open', async (t) => {
  const { logger, lines, messages } = logLines()
  const app = bareApp(t, { logger, exposeHeadRoutes: false })
  await traced(app)
  app.get('/open', handler)
  await app.register(async (child) => {
    child.get('/early', handler)
    await child.register(tenantAuth, trusting({ uncovered: 'warn' }))
    child.get('/late', handler)
    child.after(() => {
      const listed = child.authService.routes().map(({ url, seen }) => `${url} ${seen}`)
      assert.deepEqual(listed, ['/late true', '/early false'])
    })
  })
  await app.ready()
  assert.deepEqual(lines('no guard covers')[0]?.['routes'], ['GET /open'])
  assert.equal(messages(40).length, 2)
  for (const url of ['/early', '/late']) {
    assert.equal(outcome(await app.inject(url)), '401 ERR_AUTH_TOKEN_MISSING')
    assert.equal(outcome(await app.inject({ url, headers: await as() })), '200')
  }
})

test('with @fastify/otel before the guard, a covered application boots with uncovered refuse', async (t) => {
  const app = bareApp(t)
  await traced(app)
  await app.register(async (child) => {
    await child.register(tenantAuth, trusting({ uncovered: 'refuse' }))
    child.get('/late', handler)
  })
  await app.ready()
  assert.equal(outcome(await app.inject('/late')), '401 ERR_AUTH_TOKEN_MISSING')
})

test('with @fastify/otel before the guard, the order of cors and middie is judged', async (t) => {
  const { logger, messages } = logLines()
  const app = bareApp(t, { logger })
  await traced(app)
  await app.register(middie)
  await app.register(tenantAuth, trusting())
  await app.register(cors, { origin: true })
  app.get('/x', handler)
  await app.ready()
  const logged = messages(40).join('\n')
  assert.match(logged, /@fastify\/cors is registered after/)
  assert.match(logged, /@fastify\/middie is registered before/)
})

test('@fastify/otel sees a refusal like other answers', async (t) => {
  exporter.reset()
  const app = bareApp(t)
  await traced(app)
  await app.register(tenantAuth, trusting())
  app.get('/x', handler)
  assert.equal(outcome(await app.inject('/x')), '401 ERR_AUTH_TOKEN_MISSING')
  const names = exporter.getFinishedSpans().map(({ name }) => name)
  assert.equal(names.includes('request'), true, names.join(', '))
})
