import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import type { RouteDeclaration } from '../../lib/index.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly security?: RouteDeclaration
  }
}

/** The application's own words for what a route may declare. */
export const security = {
  open: (): RouteDeclaration => ({ noauth: true }),
  account: (): RouteDeclaration => ({ userInfo: true }),
  project: (...ids: string[]): RouteDeclaration => ({ tenant: 'required', require: ids }),
}

/** Every route says `config: { security: … }`, in these words. */
export const projectRoutes: FastifyPluginAsync = fp(async (app: FastifyInstance) => {
  app.addHook('onRoute', (route) => {
    const declared = route.config?.security
    if (declared === undefined) throw new Error(`${route.url} has no security`)
    route.config = { ...route.config, ...declared }
  })
})
