import Fastify, { type FastifyInstance } from 'fastify'
import type { denyList } from '../../../lib/entrypoints/revocation/index.ts'
import type { TestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import type { AuthOptions, RouteDeclaration, tenantAuth } from '../../../lib/index.ts'
import { guardedConfig } from '../guarded-config.ts'

/** What is measured, as built, or, in a test, as it stands; and who is trusted. */
export interface Setup {
  readonly tenantAuth: typeof tenantAuth
  readonly denyList: typeof denyList
  readonly authority: TestAuthority
  /** Tokens of each length that are kept. A tenth of them comes while it is measured. */
  readonly tokens: number
}

/**
 * An application with the plugin and so many routes.
 *
 * @param other the declaration of a further route, which nobody asks for
 */
export async function guarded(
  { tenantAuth }: Setup,
  options: AuthOptions,
  routes = 1,
  other?: RouteDeclaration,
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(tenantAuth, options)
  app.get('/:tenant/menu', { config: guardedConfig }, (_request, reply) => void reply.send('ok'))
  for (let i = 1; i < routes; i++) {
    app.get(`/:tenant/r${i}`, { config: guardedConfig }, (_request, reply) => void reply.send('ok'))
  }
  if (other) app.get('/:tenant/other', { config: other }, (_request, reply) => void reply.send())
  await app.ready()
  return app
}

/** The least that a guard with a cache does: it looks the header up in a Map. */
export async function floor(): Promise<FastifyInstance> {
  const app = Fastify()
  const known = new Map<string, object>()
  app.addHook('onRequest', ({ headers: { authorization } }, reply, done) => {
    if (authorization === undefined) return void reply.code(401).send()
    if (known.get(authorization) === undefined) known.set(authorization, {})
    done()
  })
  app.addHook('preHandler', (_request, _reply, done) => done())
  app.get('/:tenant/menu', (_request, reply) => void reply.send('ok'))
  await app.ready()
  return app
}
