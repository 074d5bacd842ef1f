import { setTimeout } from 'node:timers/promises'
import underPressure from '@fastify/under-pressure'
import Fastify from 'fastify'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'

/** An application that shows an orchestrator whether to send it requests, and a way to end it. */
export async function readyApp(options: AuthOptions) {
  const app = Fastify()
  await app.register(tenantAuth, options)

  let isDraining = false
  await app.register(underPressure, {
    healthCheck: async () => !isDraining && app.authService.isReady(),
    exposeStatusRoute: { url: '/ready', routeOpts: { config: { noauth: true } } },
    // Without it every route would answer 503 for as long as /ready does.
    pressureHandler: () => undefined,
  })
  app.get('/alive', { config: { noauth: true } }, async () => 'ok')

  const drain = async (milliseconds = 5000) => {
    isDraining = true
    // The orchestrator still sends requests until it has asked /ready again.
    await setTimeout(milliseconds)
    await app.close()
  }
  process.once('SIGTERM', () => void drain())

  app.get('/:tenant/menu', { config: { tenant: 'required' } }, async () => ['soup'])
  return { app, drain }
}
