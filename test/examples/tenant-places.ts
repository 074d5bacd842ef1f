import type { FastifyInstance } from 'fastify'
import tenantAuth, { type AuthOptions, type ResolveTenant } from '../../lib/index.ts'
import type { SqlDatabase } from './sql-database.ts'

const SUFFIX = '.lunch.example'

/** The tenant is the first label of the host: `acme.lunch.example`. */
const tenantOfHost: ResolveTenant = ({ hostname }) =>
  hostname.endsWith(SUFFIX) ? hostname.slice(0, -SUFFIX.length) : null

/** A host for each tenant. */
export async function menuByHost(app: FastifyInstance, options: AuthOptions): Promise<void> {
  await app.register(tenantAuth, {
    ...options,
    tenantDefault: true,
    resolveTenant: tenantOfHost,
  })
  app.get('/menu', { config: { tenant: 'required' } }, async ({ tenant }) => `menu of ${tenant}`)
  // It says nothing of a tenant, and is guarded for that of the host.
  app.get('/orders', { config: { authorization: true } }, async ({ authorization }) => ({
    tenant: authorization.tenant,
  }))
  // The same for all tenants of the user, on any host.
  app.get(
    '/me',
    { config: { tenant: false, userInfo: true } },
    async ({ userInfo }) => userInfo.sub,
  )
}

/** No tenant has this name: the answer is 403, as for a row of another tenant. */
const NOBODYS = '-'

/** Flows of projects. The project stands in the body, in a row, or is the user's only one. */
export async function flowsByProject(
  app: FastifyInstance,
  database: SqlDatabase,
  options: AuthOptions,
): Promise<void> {
  const projectOf = async (flow: string) => {
    const query = 'select project from flows where id = $1'
    const { rows } = await database.query<{ project: string }>(query, [flow])
    return rows[0]?.project ?? NOBODYS
  }
  await app.register(tenantAuth, {
    ...options,
    tenantDefault: true,
    resolveTenant: async ({ params, query, body }, user) => {
      const { id } = Object(params)
      if (id !== undefined) return projectOf(id)
      const named = Object(body).projectId ?? Object(query).projectId
      if (named !== undefined) return named
      const [only = null, ...others] = user?.tenants ?? []
      return others.length === 0 ? only : null
    },
  })
  const projectId = { type: 'string' } as const
  const name = { type: 'string' } as const
  const body = { type: 'object', required: ['projectId', 'name'], properties: { projectId, name } }
  app.post<{ Body: { name: string } }>(
    '/flows',
    { config: { tenant: 'required', late: true, require: 'flow:create' }, schema: { body } },
    async ({ tenant, body: { name } }) => ({ project: tenant, name }),
  )
  app.get<{ Params: { id: string } }>(
    '/flows/:id',
    { config: { tenant: 'required', require: 'flow:read' } },
    async ({ tenant, params }, reply) => {
      // The tenant stands in the query again: the row may have moved since.
      const query = 'select id, name from flows where project = $1 and id = $2'
      const { rows } = await database.query(query, [tenant, params.id])
      return rows[0] ?? reply.code(404).send({ message: 'No such flow' })
    },
  )
  app.get('/flows', { config: { tenant: 'required' } }, async ({ tenant }) => `flows of ${tenant}`)
}
