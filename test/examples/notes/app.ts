import { fileURLToPath } from 'node:url'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import Fastify from 'fastify'
import tenantAuth, { type AuthOptions, publicScope } from '../../../lib/index.ts'
import { Notes } from './notes.ts'
import { logRequests, plainWarnings } from './plain-log.ts'

const NewNote = Type.Object(
  { text: Type.String({ minLength: 1, maxLength: 200 }) },
  { additionalProperties: false },
)

/**
 * The application, not listening yet.
 *
 * @param options for the guard; they win over those of app.ini
 */
export async function createNotesApp(options: AuthOptions = {}) {
  const app = Fastify({
    logger: plainWarnings,
    // A browser may hold open connections that it never uses. They must not delay the end.
    forceCloseConnections: true,
  }).withTypeProvider<TypeBoxTypeProvider>()
  const notes = new Notes()
  logRequests(app)

  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { title: 'Notes', version: '1.0.0' } },
    transformObject: (given) =>
      'openapiObject' in given ? app.authService.openapi(given.openapiObject) : given.swaggerObject,
  })

  const configFile = fileURLToPath(new URL('app.ini', import.meta.url))
  await app.register(tenantAuth, { configFile, ...options })

  // The page to try it is public. Without publicScope only users would see it.
  await app.register(publicScope(swaggerUi), {
    routePrefix: '/docs',
    uiConfig: { tryItOutEnabled: true },
  })

  app.get('/health', { config: { noauth: true } }, async () => ({ ok: true }))

  app.get('/whoami', { config: { userInfo: true, authorization: true } }, async (request) => ({
    user: request.userInfo.preferred_username,
    tenants: request.authorization.tenants,
  }))

  // Strictly multitenant: the tenant is a segment of the path.
  app.get(
    '/:tenant/notes',
    { config: { tenant: 'required', require: 'note:read' } },
    async (request) => ({ tenant: request.tenant, notes: notes.of(request.tenant) }),
  )

  app.post(
    '/:tenant/notes',
    {
      config: { tenant: 'required', userInfo: true, require: 'note:write' },
      schema: { body: NewNote },
    },
    async (request, reply) => {
      const { userInfo, tenant, body } = request
      reply.code(201)
      return notes.add(tenant, { by: userInfo.preferred_username ?? userInfo.sub, ...body })
    },
  )

  // Configurably multitenant: the tenant is in the query, and null where multitenancy is off.
  app.get(
    '/notes',
    { config: { tenant: true, resources: true, require: 'note:read' } },
    async (request) => ({
      tenant: request.tenant,
      mayWrite: request.resources.has('note:write'),
      notes: notes.of(request.tenant),
    }),
  )

  return app
}
