import Fastify, { type FastifyInstance } from 'fastify'
import metrics from 'fastify-metrics'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** An application whose decisions and documents are metrics of Prometheus. */
export async function measuredApp(options: AuthOptions): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(metrics.default, {
    // Open to everybody who can reach it: serve it to your own network only.
    endpoint: { url: '/metrics', method: 'GET', config: { noauth: true }, handler: () => {} },
    clearRegisterOnInit: true,
  })
  await app.register(tenantAuth, options)

  const { client } = app.metrics
  new client.Counter({
    name: 'auth_decisions_total',
    help: 'Guarded requests, by the code of their refusal',
    labelNames: ['code'],
    collect() {
      const { admitted, refused } = app.authService.stats().decisions
      this.reset()
      this.inc({ code: 'none' }, admitted)
      for (const [code, count] of Object.entries(refused)) this.inc({ code }, count)
    },
  })
  new client.Gauge({
    name: 'auth_document_age_seconds',
    help: 'Age of the keys and lists that decisions rest on; Inf where there are none',
    labelNames: ['kind', 'name'],
    collect() {
      this.reset()
      for (const { kind, name, age, state } of app.authService.stats().documents) {
        // Keys that were given in code have no age.
        this.set({ kind, name }, state === 'none' ? Infinity : (age ?? 0))
      }
    },
  })
  new client.Counter({
    name: 'auth_token_cache_total',
    help: 'Tokens that were known (hits) or not (misses), and that had to go (evictions)',
    labelNames: ['event'],
    collect() {
      const { size, ...events } = app.authService.stats().tokenCache
      this.reset()
      for (const [event, count] of Object.entries(events)) this.inc({ event }, count)
    },
  })
  new client.Gauge({
    name: 'auth_token_cache_size',
    help: 'Tokens that are kept',
    collect() {
      this.set(app.authService.stats().tokenCache.size)
    },
  })
  new client.Counter({
    name: 'auth_unknown_kid_total',
    help: 'Tokens that name a key that no set has',
    collect() {
      this.reset()
      this.inc(app.authService.stats().keys.unknownKid)
    },
  })

  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async () => ['soup'])
  return app
}
