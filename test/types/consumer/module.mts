import Fastify, { type FastifyRequest } from 'fastify'
import tenantAuth, {
  type AuthOptions,
  AuthService,
  authorizationOf,
  errors,
  publicScope,
  type RouteDeclaration,
} from 'fastify-tenant-auth'
import { createTestAuthority } from 'fastify-tenant-auth/testing'

// An application with settings as `tsc --init` writes them, and with the package from the registry.
// It checks the built declarations, which are found by package.json's `exports`.

const authority = await createTestAuthority()
const options: AuthOptions = { ...authority.options, realm: 'orders' }
const auth = new AuthService(options)
const app = Fastify()
await app.register(tenantAuth, options)
await auth.install(Fastify({ http2: true }))
await app.register(publicScope(async (scope) => void scope.get('/', async () => 'ok')))

const tenantOf = (request: FastifyRequest): string | null | undefined => request.tenant
const declaration = { tenant: 'required', userInfo: true } satisfies RouteDeclaration

app.get('/:tenant/menu', { config: declaration }, async (request) => {
  const tenant: string = request.tenant
  const sub: string = request.userInfo.sub
  // @ts-expect-error not declared; if the package's types were not found, this would be `any`
  request.resources.has('menu:read')
  return [tenant, sub, tenantOf(request), authorizationOf(request)?.has('menu:read')]
})

app.setErrorHandler((error, _request, reply) =>
  error instanceof errors.AuthError ? reply.code(error.statusCode).send() : reply.send(error),
)
