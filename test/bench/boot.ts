import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions } from 'fastify-tenant-auth'

const ROUTES = 10_000

export interface Boot {
  /** Undefined: without the plugin. */
  readonly options?: AuthOptions
  readonly isChildScope: boolean
}

/** Boots one application in a process of its own, and says what it cost: seconds of CPU time. */
process.once('message', async ({ options, isChildScope }: Boot) => {
  const app = Fastify()
  const build = async (scope: FastifyInstance): Promise<void> => {
    if (options) await scope.register(tenantAuth, options)
    for (let i = 0; i < ROUTES; i++) scope.get(`/r${i}/:id`, async () => ({ ok: true }))
  }
  const start = process.cpuUsage()
  if (isChildScope) app.register(build)
  else await build(app)
  await app.ready()
  const { user, system } = process.cpuUsage(start)
  process.send?.((user + system) / 1e6)
  process.disconnect()
})
