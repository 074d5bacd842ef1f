import type { RouteHandlerMethod, RouteShorthandOptions } from 'fastify'
import type { UserInfo } from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

interface Paged {
  Querystring: { page: string }
}

// In each way to write a route, its declaration is seen, and so are its other types.

app.route({
  method: ['GET', 'PUT'],
  url: '/:tenant/a',
  config: { tenant: 'required', userInfo: true },
  handler: async (request) => {
    expectType(request.tenant).is<string>()
    expectType(request.userInfo).is<UserInfo>()
    expectType(request.resources).is<undefined>()
  },
})

app.post('/:tenant/b', {
  config: { tenant: 'required' },
  handler: async (request) => {
    expectType(request.tenant).is<string>()
  },
})

app.delete('/:tenant/c', { config: { tenant: 'required' } }, (request, reply) => {
  expectType(request.tenant).is<string>()
  reply.send()
})

app.all('/:tenant/d', { config: { tenant: 'required' } }, function (request) {
  expectType(request.tenant).is<string>()
  return this.authService.routes()
})

// TypeScript infers all type arguments or no type argument. If one is given, the config is out of
// sight.
app.get<Paged>('/:tenant/e', { config: { tenant: 'required' } }, async (request) => {
  expectType(request.query.page).is<string>()
  // Prevents `undefined`, which would be wrong, and `string`, which is not proved.
  expectType(request.tenant).is<string | null | undefined>()
  expectType(request.userInfo).is<UserInfo | null | undefined>()
})

app.get<Paged, { tenant: 'required' }>(
  '/:tenant/f',
  { config: { tenant: 'required' } },
  async (request) => {
    expectType(request.query.page).is<string>()
    // Prevents that a route with both arguments loses a type.
    expectType(request.tenant).is<string>()
    expectType(request.userInfo).is<undefined>()
  },
)

app.route<Paged, { tenant: true; resources: true }>({
  method: 'GET',
  url: '/g',
  config: { tenant: true, resources: true },
  handler: async (request) => {
    expectType(request.query.page).is<string>()
    expectType(request.tenant).is<string | null>()
    expectType(request.resources).is<ReadonlySet<string>>()
  },
})

app.get(
  '/:tenant/h',
  {
    config: { tenant: 'required' },
    onRequest: async (request) => {
      // A route's own hooks see what its handler sees.
      expectType(request.tenant).is<string>()
    },
    preHandler: [
      async (request) => {
        expectType(request.tenant).is<string>()
      },
    ],
    onSend: async (request) => {
      expectType(request.tenant).is<string>()
    },
    errorHandler: (_error, request) => {
      expectType(request.tenant).is<string>()
    },
  },
  async (request) => {
    expectType(request.tenant).is<string>()
  },
)

// A handler or options of no particular route know of no declaration, and fit every route.
const handler: RouteHandlerMethod = async (request) => {
  expectType(request.tenant).is<string | null | undefined>()
}
app.get('/:tenant/i', { config: { tenant: 'required' } }, handler)
app.get('/j', { config: { noauth: true } }, handler)

const options: RouteShorthandOptions = { config: { tenant: true } }
app.get('/k', options, async (request) => {
  expectType(request.tenant).is<string | null | undefined>()
})
