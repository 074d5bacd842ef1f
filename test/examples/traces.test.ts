import assert from 'node:assert/strict'
import test from 'node:test'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import Fastify from 'fastify'
import { createTestAuthority } from '../../lib/entrypoints/testing/index.ts'
import tenantAuth from '../../lib/index.ts'
import { traceDecisions } from './traces.ts'

test('the span of a request names its decision, with @fastify/otel before the guard', async (t) => {
  const exporter = new InMemorySpanExporter()
  const spanProcessors = [new SimpleSpanProcessor(exporter)]
  const instrumentation = new FastifyOtelInstrumentation({ registerOnInitialization: false })
  instrumentation.setTracerProvider(new BasicTracerProvider({ spanProcessors }))
  traceDecisions()

  const authority = await createTestAuthority()
  const app = Fastify()
  t.after(() => app.close())
  await app.register(instrumentation.plugin())
  // Where a route were open, the audit of the routes would stop the boot.
  await app.register(tenantAuth, { ...authority.options, uncovered: 'refuse' })
  app.get('/:tenant/menu', async () => ['soup'])
  app.get('/untraced', { config: { otel: false } }, async () => 'x')

  const headers = await authority.headers({ sub: 'dora', resources: { 'lazy-raccoon': [] } })
  await app.inject({ url: '/lazy-raccoon/menu', headers })
  await app.inject({ url: '/busy-beaver/menu', headers })
  await app.inject('/lazy-raccoon/menu')
  assert.equal((await app.inject({ url: '/untraced', headers })).statusCode, 200)
  const reported = exporter
    .getFinishedSpans()
    .filter(({ name }) => name === 'request')
    .map(({ attributes }) => Object.entries(attributes))
    .map((all) => all.filter(([name]) => /^(tenant_auth|enduser)\./.test(name)))
    .map((ours) => Object.fromEntries(ours))
  assert.deepEqual(reported, [
    {
      'tenant_auth.outcome': 'admitted',
      'tenant_auth.tenant': 'lazy-raccoon',
      'enduser.id': 'dora',
    },
    {
      'tenant_auth.outcome': 'refused',
      'tenant_auth.code': 'ERR_AUTH_TENANT_FORBIDDEN',
      'tenant_auth.tenant': 'busy-beaver',
      'enduser.id': 'dora',
    },
    {
      'tenant_auth.outcome': 'refused',
      'tenant_auth.code': 'ERR_AUTH_TOKEN_MISSING',
      'tenant_auth.tenant': 'lazy-raccoon',
    },
  ])
})
