import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import rateLimit from '@fastify/rate-limit'
import Fastify, { type FastifyError, type FastifyServerOptions } from 'fastify'
import tenantAuth, { type AuthOptions, refusalOf } from '../../lib/index.ts'

/** An application as it stands behind a proxy, for browsers of another origin. */
export async function deployedApp(options: AuthOptions, server: FastifyServerOptions = {}) {
  const app = Fastify({
    // The proxies whose `X-Forwarded-For` counts. With `true` any client could name an address.
    trustProxy: ['10.0.0.0/8'],
    ...server,
  })
  // Before the guard: a refusal has their headers too, and a preflight is answered.
  await app.register(helmet)
  await app.register(cors, {
    origin: ['https://app.example.com'],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type'],
    // Without it a page sees the status of a refusal, and neither why nor when to try again.
    exposedHeaders: ['WWW-Authenticate', 'Retry-After'],
  })

  await app.register(rateLimit, { global: false })
  const strangers = app.createRateLimit({ max: 20, timeWindow: '1 minute' })
  app.addHook('onRequest', async (request, reply) => {
    // Looks, and does not count.
    const limit = await strangers(request, { increment: false })
    if (limit.isAllowed || limit.remaining > 0) return
    reply.header('retry-after', limit.ttlInSeconds)
    return reply.code(429).send({ message: 'Too many requests without a good token' })
  })
  app.addHook('onResponse', async (request) => {
    if (refusalOf(request)?.error.statusCode === 401) await strangers(request)
  })

  await app.register(tenantAuth, options)

  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500
    // The guard has logged its refusal, with the reason.
    if (status >= 500 && !refusalOf(request)) request.log.error(error)
    return reply.code(status).send({ message: status < 500 ? error.message : 'Try again later' })
  })

  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async () => ['soup'])
  app.get('/:tenant/broken', { config: { tenant: 'required' } }, async () => {
    throw new Error('a secret of the database')
  })
  return app
}
