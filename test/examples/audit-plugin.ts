import fp from 'fastify-plugin'
import { refusalOf } from '../../lib/index.ts'

declare module 'fastify' {
  interface FastifyInstance {
    refused: string[]
  }
}

export default fp(
  async (app) => {
    app.addHook('onResponse', async (request) => {
      const refusal = refusalOf(request)
      if (refusal) app.refused.push(refusal.error.code)
    })
    app.decorate('refused', [])
  },
  // Loaded after auth.ts, although its name comes first.
  { name: 'audit', dependencies: ['fastify-tenant-auth'] },
)
