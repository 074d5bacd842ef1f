import type {
  FastifyPluginAsync,
  FastifyPluginCallback,
  FastifyRequest,
  FastifySchema,
  FastifyTypeProviderDefault,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
} from 'fastify'
import fp from 'fastify-plugin'
import { type Authorization, authorizationOf, type UserInfo } from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

// A request of any route has the union of what may be there. The types are never wrong, and never
// say less.

function auditLine(request: FastifyRequest): string {
  expectType(request.tenant).is<string | null | undefined>()
  expectType(request.userInfo).is<UserInfo | null | undefined>()
  expectType(request.resources).is<ReadonlySet<string> | undefined>()
  expectType(request.authorization).is<Authorization | null | undefined>()
  return request.tenant ?? 'none'
}

// Prevents that a function for any request cannot be called with a declared one.
app.get('/:tenant/a', { config: { tenant: 'required' } }, async (request) => auditLine(request))
app.get('/b', { config: { tenant: true, userInfo: true } }, async (request) => auditLine(request))
app.get('/c', { config: { tenant: 'optional' } }, async (request) => auditLine(request))
app.get('/d', { config: { resources: true } }, async (request) => auditLine(request))
app.get('/e', { config: { authorization: true } }, async (request) => auditLine(request))
app.get('/f', { config: { noauth: true } }, async (request) => auditLine(request))
app.get('/g', { config: {} }, async (request) => auditLine(request))
app.get('/h', async (request) => auditLine(request))

/** A request of a route that declares a tenant for certain. */
type OfTenant = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  RawRequestDefaultExpression,
  FastifySchema,
  FastifyTypeProviderDefault,
  { tenant: 'required' }
>

async function invoice(request: OfTenant): Promise<string> {
  expectType(request.tenant).is<string>()
  return request.tenant
}

app.get('/:tenant/i', { config: { tenant: 'required' } }, invoice)
app.get('/:tenant/j', { config: { tenant: 'required', userInfo: true } }, invoice)
// @ts-expect-error a handler that counts on a tenant, on a route where it may be null
app.get('/k', { config: { tenant: true } }, invoice)
// @ts-expect-error or on a route that declares none
app.get('/l', { config: {} }, invoice)
// @ts-expect-error or called with a request of any route
app.get('/m', async (request) => invoice(request))

// Hooks and handlers of the whole application.
app.addHook('onRequest', async (request) => {
  expectType(request.tenant).is<string | null | undefined>()
  expectType(request.userInfo).is<UserInfo | null | undefined>()
})
app.addHook('preHandler', (request, _reply, done) => {
  expectType(request.tenant).is<string | null | undefined>()
  done()
})
app.addHook('onResponse', async (request) => {
  expectType(request.resources).is<ReadonlySet<string> | undefined>()
})
app.setErrorHandler((error, request, reply) => {
  expectType(request.tenant).is<string | null | undefined>()
  expectType(request.authorization).is<Authorization | null | undefined>()
  return reply.send(error)
})
app.setNotFoundHandler(async (request) => {
  expectType(request.tenant).is<string | null | undefined>()
})

// For these there is one way, which needs no declaration.
app.addHook('preHandler', async (request) => {
  expectType(authorizationOf(request)).is<Authorization | null>()
  // @ts-expect-error null if no guard let the request through: a hook also runs for `noauth` routes
  authorizationOf(request).require('menu:read')
})
app.post<{ Body: { name: string }; Params: { id: string }; Headers: { 'x-a': string } }>(
  '/n',
  async (request) => {
    // Prevents that only requests without types of their own are accepted.
    expectType(authorizationOf(request)).is<Authorization | null>()
  },
)

// Encapsulated plugins see the declarations of their own routes.
const orders: FastifyPluginAsync<{ pageSize: number }> = async (scope, { pageSize }) => {
  scope.get('/:tenant/orders', { config: { tenant: 'required' } }, async (request) => {
    expectType(request.tenant).is<string>()
    return pageSize
  })
}
const menus: FastifyPluginCallback = (scope, _options, done) => {
  scope.get('/menus', { config: { tenant: true } }, async (request) => {
    expectType(request.tenant).is<string | null>()
  })
  done()
}
await app.register(orders, { pageSize: 20, prefix: '/v1' })
await app.register(menus)
await app.register(fp(menus))
await app.register(async (scope) => {
  scope.get('/inline', { config: { userInfo: true } }, async (request) => {
    expectType(request.userInfo).is<UserInfo>()
  })
})
