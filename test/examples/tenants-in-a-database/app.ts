import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import Fastify, { type FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions } from '../../../lib/index.ts'
import { asTenant, tenantExists } from './as-tenant.ts'
import type { Database } from './database.ts'
import { deleteMember, putMember, resourcesOf } from './memberships.ts'

/**
 * The dishes and the members of each tenant. A membership says what its user may do. No statement
 * here names a tenant, because the database knows the tenant of the request.
 */
export async function createApp(
  database: Database,
  options: AuthOptions,
): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(tenantAuth, {
    ...options,
    resourcesOf: (user) => resourcesOf(database, user),
    tenants: (tenant) => tenantExists(database, tenant),
  })
  addMembers(app, database)
  addDishes(app, database)
  return app
}

/** A text that PostgreSQL can hold: neither U+0000 nor half of a surrogate pair is in it. */
const Text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\0\\p{Surrogate}]*$' })

const User = Type.Object({ issuer: Text(2048), sub: Text(255) })
const Resource = Type.String({ pattern: '^[a-z]+:[a-z]+$', maxLength: 100 })
const Resources = Type.Array(Resource, { maxItems: 100 })
const Member = Type.Composite([User, Type.Object({ resources: Resources })])

/**
 * Who may edit the members of a tenant gives and takes rights in this tenant only: the rows are
 * those of the request. The rights are forgotten after the change is committed, so that it counts
 * at the next request. Other processes see it within `resourcesMaxAge`.
 */
function addMembers(app: FastifyInstance, database: Database): void {
  const typed = app.withTypeProvider<TypeBoxTypeProvider>()
  const config = { tenant: 'required', require: 'member:edit' } as const

  typed.put('/:tenant/members', { config, schema: { body: Member } }, async (request, reply) => {
    const { issuer, sub, resources } = request.body
    await asTenant(database, request.tenant, putMember({ issuer, sub }, resources))
    app.authService.forget({ issuer, sub })
    return reply.code(204).send()
  })

  typed.delete(
    '/:tenant/members',
    { config, schema: { querystring: User } },
    async (request, reply) => {
      const { issuer, sub } = request.query
      const isDeleted = await asTenant(database, request.tenant, deleteMember({ issuer, sub }))
      app.authService.forget({ issuer, sub })
      return reply.code(isDeleted ? 204 : 404).send()
    },
  )
}

const Dish = Type.Object({ name: Text(200) })
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
