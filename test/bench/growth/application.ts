import { setImmediate } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import type { denyList, proofTable } from '../../../lib/entrypoints/revocation/index.ts'
import type { TestAuthority } from '../../../lib/entrypoints/testing/index.ts'
import type { AuthOptions, RouteDeclaration, tenantAuth } from '../../../lib/index.ts'
import { addFloor, guardedConfig } from '../menu-route.ts'

/** What is measured, as built, or, in a test, as it stands; and who is trusted. */
export interface Setup {
  readonly tenantAuth: typeof tenantAuth
  readonly denyList: typeof denyList
  readonly proofTable: typeof proofTable
  readonly authority: TestAuthority
  /** Tokens of each length that are kept. A tenth of them comes while it is measured. */
  readonly tokens: number
}

export interface Routes {
  /** How many. */
  readonly count?: number
  /** Of the first one, which is asked for. */
  readonly url?: string
  /** What each of them declares. */
  readonly config?: RouteDeclaration
  /** What a further route declares, which nobody asks for. */
  readonly other?: RouteDeclaration
}

/** An application with the plugin, which answers each request at once. */
export async function guarded(
  { tenantAuth }: Setup,
  options: AuthOptions,
  { count = 1, url = '/:tenant/menu', config = guardedConfig, other }: Routes = {},
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(tenantAuth, options)
  for (let i = 0; i < count; i++) {
    const path = i === 0 ? url : url.replace('menu', `r${i}`)
    app.get(path, { config }, (_request, reply) => void reply.send('ok'))
  }
  if (other) app.get('/:tenant/other', { config: other }, (_request, reply) => void reply.send())
  await app.ready()
  return app
}

/** The floor of the bench, which lets all pass that bring a token. */
export async function floor(): Promise<FastifyInstance> {
  const app = Fastify()
  addFloor(app)
  app.get('/*', (_request, reply) => void reply.send('ok'))
  await app.ready()
  return app
}

/**
 * A floor on which so many requests at most have a turn of the event loop at once, and the others
 * wait: to hold a thousand of them open costs by itself.
 */
export async function queuedFloor(places: number): Promise<FastifyInstance> {
  const app = Fastify()
  const waiting: (() => void)[] = []
  let running = 0
  addFloor(app)
  app.addHook('onRequest', async () => {
    if (running === places) await new Promise<void>((start) => waiting.push(start))
    else running += 1
    await setImmediate()
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  })
  app.get('/*', (_request, reply) => void reply.send('ok'))
  await app.ready()
  return app
}
