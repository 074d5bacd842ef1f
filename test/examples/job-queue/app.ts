import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions, currentAuthorization } from '../../../lib/index.ts'
import { tenantExists } from '../tenants-in-a-database/as-tenant.ts'
import type { Database } from '../tenants-in-a-database/database.ts'
import { dishNames } from './as-current-tenant.ts'
import { addJob, runJobs } from './queue.ts'

/** A request asks for a menu card, and a job prints it. Both read the dishes by one function. */
export async function createApp(
  database: Database,
  print: (tenant: string, dishes: readonly string[]) => void,
  options: AuthOptions,
): Promise<{ app: FastifyInstance; work(): Promise<void> }> {
  const app = Fastify()
  await app.register(tenantAuth, {
    ...options,
    asyncContext: true,
    tenants: (tenant) => tenantExists(database, tenant),
  })

  app.get('/:tenant/dishes', { config: { tenant: 'required', require: 'dish:read' } }, async () =>
    dishNames(database),
  )

  app.post(
    '/:tenant/menu-cards',
    { config: { tenant: 'required', require: 'dish:read' } },
    async (_request, reply) => {
      await addJob(database, 'menu-card')
      return reply.code(202).send()
    },
  )

  const work = () =>
    runJobs(app.authService, database, async ({ tenant }) => {
      currentAuthorization()?.require('dish:read')
      print(tenant, await dishNames(database))
    })
  return { app, work }
}
