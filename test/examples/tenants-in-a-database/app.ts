import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions } from '../../../lib/index.ts'
import { asTenant, tenantExists } from './as-tenant.ts'
import type { Database } from './database.ts'

/**
 * The dishes of each tenant. No statement here names a tenant, because the database knows the
 * tenant of the request.
 */
export async function createApp(
  database: Database,
  options: AuthOptions,
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(tenantAuth, {
    ...options,
    tenants: (tenant) => tenantExists(database, tenant),
  })
  addDishes(app, database)
  return app
}

const Dish = Type.Object({ name: Type.String({ minLength: 1, maxLength: 200 }) })
const DishId = Type.Object({ id: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) })

function addDishes(app: FastifyInstance, database: Database): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()

  typed.get(
    '/:tenant/dishes',
    { config: { tenant: 'required', require: 'dish:read' } },
    async (request) =>
      asTenant(database, request.tenant, (session) =>
        session.query('select id, name from dishes order by id'),
      ),
  )

  typed.post(
    '/:tenant/dishes',
    { config: { tenant: 'required', require: 'dish:edit' }, schema: { body: Dish } },
    async (request, reply) => {
      const { name } = request.body
      const [dish] = await asTenant(database, request.tenant, (session) =>
        session.query(
          'insert into dishes (name) values ($1) on conflict do nothing returning id, name',
          [name],
        ),
      )
      return dish === undefined ? reply.code(409).send() : reply.code(201).send(dish)
    },
  )

  typed.delete(
    '/:tenant/dishes/:id',
    { config: { tenant: 'required', require: 'dish:edit' }, schema: { params: DishId } },
    async (request, reply) => {
      const { id } = request.params
      const deleted = await asTenant(database, request.tenant, (session) =>
        session.query('delete from dishes where id = $1 returning id', [id]),
      )
      return reply.code(deleted.length === 1 ? 204 : 404).send()
    },
  )
}
