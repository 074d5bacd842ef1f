import type { Http2Server, Http2ServerRequest } from 'node:http2'
import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import Fastify, {
  type FastifyReply,
  type FastifyRequest,
  type RouteGenericInterface,
} from 'fastify'
import type { GuardedRequest, RouteDeclaration, UserInfo } from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

// Handlers in a file of their own: the route's declaration types the request.

async function menu(request: GuardedRequest<{ tenant: 'required' }>) {
  expectType(request.tenant).is<string>()
  expectType(request.userInfo).is<undefined>()
  return request.tenant
}

interface NewOrder {
  Body: { dish: string }
  Querystring: { day: number }
}

async function order(
  request: GuardedRequest<{ tenant: true; userInfo: true }, NewOrder>,
  reply: FastifyReply,
) {
  expectType(request.tenant).is<string | null>()
  expectType(request.userInfo).is<UserInfo>()
  expectType(request.body).is<{ dish: string }>()
  expectType(request.query).is<{ day: number }>()
  expectType(dishOf(request)).is<string>()
  return reply.send('ok')
}

const declaration = {
  tenant: 'required',
  resources: true,
  require: ['menu:read'],
} as const satisfies RouteDeclaration

async function table(request: GuardedRequest<typeof declaration>) {
  expectType(request.tenant).is<string>()
  expectType(request.resources).is<ReadonlySet<string>>()
}

// Functions without knowledge of this package accept such a request.
const dishOf = (request: FastifyRequest<{ Body: { dish: string } }>) => request.body.dish
const audit = async (request: FastifyRequest) => void request.tenant

// @ts-expect-error no route can declare this
type _Wrong = GuardedRequest<{ tenant: 'yes' }>

// In each form of a route, by its name and called.

app.get('/:tenant/a', { config: { tenant: 'required' } }, menu)
app.get('/:tenant/b', { config: { tenant: 'required' } }, (request) => menu(request))
app.get('/:tenant/c', { config: { tenant: 'required' }, handler: menu })
app.route({ method: 'GET', url: '/:tenant/d', config: { tenant: 'required' }, handler: menu })
app.get('/:tenant/e', { config: declaration }, table)
app.get('/:tenant/f', { config: declaration }, (request) => table(request))
app.get('/:tenant/g', { config: { tenant: 'required' }, preHandler: menu }, async (request) => {
  // Prevents that a route's own hook takes the route's types away.
  expectType(request.tenant).is<string>()
})
// A route that declares more than the handler asks for.
app.get('/:tenant/h', { config: declaration }, menu)
app.get('/:tenant/i', { config: { tenant: 'required', userInfo: true } }, (request) =>
  menu(request),
)
// With generics of its own, by its name alone, and where the route has them too.
app.post('/j', { config: { tenant: true, userInfo: true } }, order)
app.post<NewOrder, { tenant: true; userInfo: true }>(
  '/k',
  { config: { tenant: true, userInfo: true } },
  (request, reply) => order(request, reply),
)

// A route is refused if it does not keep what the handler needs.

// @ts-expect-error the tenant may be null
app.get('/l', { config: { tenant: true } }, menu)
// @ts-expect-error the same if it is called
app.get('/m', { config: { tenant: true } }, (request) => menu(request))
// @ts-expect-error the route declares nothing
app.get('/n', { config: {} }, menu)
// @ts-expect-error the route says nothing of resources
app.get('/:tenant/o', { config: { tenant: 'required' } }, table)
// @ts-expect-error a hook beside it changes nothing
app.get('/p', { config: { tenant: true }, preHandler: audit }, menu)
app.post('/q', { config: { tenant: true, userInfo: true } }, (request, reply) =>
  // @ts-expect-error nothing describes the body
  order(request, reply),
)

// If the route has generics, its declaration is seen as the second of them.

// @ts-expect-error not seen
app.get<{ Headers: { 'x-a': string } }>('/:tenant/r', { config: { tenant: 'required' } }, menu)
app.get<{ Headers: { 'x-a': string } }, { tenant: 'required' }>(
  '/:tenant/s',
  { config: { tenant: 'required' } },
  menu,
)
// @ts-expect-error seen, but a different declaration
app.get<{ Headers: { 'x-a': string } }, { tenant: true }>('/t', { config: { tenant: true } }, menu)

// A handler that can bear less says so, and fits routes that promise it or more.

async function menuOrNone(request: GuardedRequest<{ tenant: true | 'required' }>) {
  expectType(request.tenant).is<string | null>()
}
async function forAll(request: GuardedRequest<{ guests?: boolean; userInfo: true }>) {
  expectType(request.userInfo).is<UserInfo | null>()
}
async function forGuests(request: GuardedRequest<{ guests: true; userInfo: true }>) {
  expectType(request.userInfo).is<UserInfo | null>()
}
app.get('/al', { config: { tenant: true } }, menuOrNone)
app.get('/:tenant/am', { config: { tenant: 'required' } }, menuOrNone)
app.get('/:tenant/an', { config: { tenant: 'required' } }, (request) => menuOrNone(request))
app.get('/ao', { config: { guests: true, userInfo: true } }, forAll)
app.get('/ap', { config: { userInfo: true } }, forAll)
app.get('/aq', { config: { userInfo: true } }, (request) => forAll(request))
// @ts-expect-error no tenant is declared
app.get('/ar', { config: {} }, menuOrNone)
// @ts-expect-error no user is declared
app.get('/as', { config: { guests: true } }, forAll)
// If this were no error, .github/docs/reference/typescript.md could say less.
// @ts-expect-error the route promises more than the handler asks for
app.get('/at', { config: { userInfo: true } }, forGuests)

// In an application of another server.

const http2 = Fastify({ http2: true })
async function stream(
  request: GuardedRequest<{ tenant: 'required' }, RouteGenericInterface, Http2Server>,
) {
  expectType(request.tenant).is<string>()
  expectType(request.raw).is<Http2ServerRequest>()
}
http2.get('/:tenant/a', { config: { tenant: 'required' } }, stream)
http2.get('/:tenant/b', { config: { tenant: 'required' } }, (request) => stream(request))
// @ts-expect-error the tenant may be null
http2.get('/c', { config: { tenant: true } }, stream)
// @ts-expect-error the same if it is called
http2.get('/d', { config: { tenant: true } }, (request) => stream(request))

// Where no config is seen, such a handler is accepted by its name, because TypeScript infers a
// config that is not there. If the handler is called, it is refused. If the first of these were an
// error, .github/docs/reference/typescript.md could say less.

app.get('/u', menu)
app.get('/v', {}, menu)
app.get('/av', { preHandler: menu }, async () => 'ok')
app.addHook('preHandler', menu)
app.setNotFoundHandler(menu)
// @ts-expect-error no tenant is declared
app.get('/w', (request) => menu(request))
// @ts-expect-error here too
app.get('/x', {}, (request) => menu(request))
// @ts-expect-error and here
app.get('/aw', { preHandler: async (request) => void (await menu(request)) }, async () => 'ok')
// @ts-expect-error and in a hook of all routes
app.addHook('preHandler', async (request) => void (await menu(request)))
// @ts-expect-error and where there is no route
app.setNotFoundHandler((request) => menu(request))
// A generic without a config is believed, called or not.
app.get<object, { tenant: 'required' }>('/au', menu)
app.get<object, { tenant: 'required' }>('/ax', (request) => menu(request))

// A hook of the route that is typed for any request takes the inference away. There are two ways to
// have it back.

app.get('/:tenant/y', { config: { tenant: 'required' }, preHandler: audit }, async (request) => {
  expectType(request.tenant).is<string | null | undefined>()
})
app.get(
  '/:tenant/z',
  { config: { tenant: 'required' }, preHandler: [audit], errorHandler: (_e, r) => audit(r) },
  async (request) => {
    expectType(request.tenant).is<string | null | undefined>()
  },
)
app.get(
  '/:tenant/aa',
  { config: { tenant: 'required' }, preHandler: (request) => audit(request) },
  async (request) => {
    expectType(request.tenant).is<string>()
  },
)
app.get<object, { tenant: 'required' }>(
  '/:tenant/ab',
  { config: { tenant: 'required' }, preHandler: audit },
  async (request) => {
    expectType(request.tenant).is<string>()
  },
)

// Beside a type provider. The schema types the rest.

const typebox = app.withTypeProvider<TypeBoxTypeProvider>()
const typeboxSchema = {
  body: Type.Object({ dish: Type.String() }),
  querystring: Type.Object({ day: Type.Integer() }),
}
typebox.get('/:tenant/ac', { schema: typeboxSchema, config: { tenant: 'required' } }, menu)
typebox.get('/:tenant/ad', { schema: typeboxSchema, config: { tenant: 'required' } }, (request) =>
  menu(request),
)
typebox.post(
  '/ae',
  { schema: typeboxSchema, config: { tenant: true, userInfo: true } },
  // By its name: TypeScript 5.9 refuses to call one with generics here. Later versions do not.
  order,
)
// @ts-expect-error the tenant may be null
typebox.get('/af', { schema: typeboxSchema, config: { tenant: true } }, menu)
// @ts-expect-error the same if it is called
typebox.get('/ag', { schema: typeboxSchema, config: { tenant: true } }, (request) => menu(request))

const jsonSchema = app.withTypeProvider<JsonSchemaToTsProvider>()
const plainSchema = {
  body: { type: 'object', properties: { dish: { type: 'string' } }, required: ['dish'] },
  querystring: { type: 'object', properties: { day: { type: 'integer' } }, required: ['day'] },
} as const
jsonSchema.get('/:tenant/ah', { schema: plainSchema, config: { tenant: 'required' } }, menu)
jsonSchema.get('/:tenant/ai', { schema: plainSchema, config: { tenant: 'required' } }, (request) =>
  menu(request),
)
jsonSchema.post('/aj', { schema: plainSchema, config: { tenant: true, userInfo: true } }, order)
// @ts-expect-error the tenant may be null
jsonSchema.get('/ak', { schema: plainSchema, config: { tenant: true } }, menu)
