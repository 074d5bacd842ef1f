import type { FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions } from '../../lib/index.ts'
import type { SqlDatabase } from './sql-database.ts'

/** Orders that their owners may change, and those who hold `order:erase` may erase. */
export async function orderRoutes(
  app: FastifyInstance,
  database: SqlDatabase,
  options: AuthOptions,
): Promise<void> {
  const ownerOf = async (tenant: string | null, id: string): Promise<string | undefined> => {
    const { rows } = await database.query<{ owner: string }>(
      'select owner from orders where tenant = $1 and id = $2',
      [tenant, id],
    )
    return rows[0]?.owner
  }
  await app.register(tenantAuth, {
    ...options,
    checks: {
      'order:owner': async (authorization, request) => {
        // On an open route there is no user.
        if (authorization === null) return false
        const { tenant, userInfo } = authorization
        const owner = await ownerOf(tenant, Object(request.params).id)
        // Of an order that is not there the handler says 404.
        return owner === undefined || owner === userInfo.sub
      },
    },
  })
  app.put<{ Params: { tenant: string; id: string }; Body: { dish: string } }>(
    '/:tenant/orders/:id',
    { config: { check: 'order:owner' } },
    async ({ params: { tenant, id }, body }, reply) => {
      const { rows } = await database.query<{ dish: string }>(
        'update orders set dish = $3 where tenant = $1 and id = $2 returning dish',
        [tenant, id, body.dish],
      )
      return rows[0] ?? reply.code(404).send({ message: 'No such order' })
    },
  )
}
