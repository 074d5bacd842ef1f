import type { JsonSchemaToTsProvider } from '@fastify/type-provider-json-schema-to-ts'
import type { FastifyPluginAsyncTypebox, TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import {
  type Authorization,
  AuthService,
  authorizationOf,
  type UserInfo,
} from 'fastify-tenant-auth'
import { app } from './application.ts'
import { expectType } from './expect-type.ts'

// A type provider types what the schema describes, and the declaration types the rest. Both are
// kept.

const tenantOf = (request: FastifyRequest) => request.tenant

const typebox = app.withTypeProvider<TypeBoxTypeProvider>()
await new AuthService().install(typebox)

const MenuSchema = {
  params: Type.Object({ tenant: Type.String() }),
  querystring: Type.Object({ day: Type.Integer() }),
  response: { 200: Type.Object({ dishes: Type.Array(Type.String()) }) },
}

typebox.get(
  '/:tenant/menu',
  { schema: MenuSchema, config: { tenant: 'required', userInfo: true } },
  async (request) => {
    expectType(request.query).is<{ day: number }>()
    expectType(request.params).is<{ tenant: string }>()
    expectType(request.tenant).is<string>()
    expectType(request.userInfo).is<UserInfo>()
    expectType(request.resources).is<undefined>()
    expectType(authorizationOf(request)).is<Authorization | null>()
    expectType(tenantOf(request)).is<string | null | undefined>()
    return { dishes: ['soup'] }
  },
)

typebox.route({
  method: 'POST',
  url: '/orders',
  schema: { body: Type.Object({ dish: Type.String() }) },
  config: { tenant: true, authorization: true },
  handler: async (request) => {
    expectType(request.body).is<{ dish: string }>()
    expectType(request.tenant).is<string | null>()
    expectType(request.authorization).is<Authorization>()
  },
})

typebox.get('/undeclared', { schema: MenuSchema }, async (request) => {
  expectType(request.tenant).is<string | null | undefined>()
  return { dishes: [] }
})

// @ts-expect-error a wrong declaration is refused beside a schema too
typebox.get('/yes', { schema: {}, config: { tenant: 'yes' } }, async () => 'ok')

const plugin: FastifyPluginAsyncTypebox = async (scope) => {
  scope.get(
    '/:tenant/a',
    { schema: { querystring: MenuSchema.querystring }, config: { tenant: 'required' } },
    async (request) => {
      expectType(request.query).is<{ day: number }>()
      expectType(request.tenant).is<string>()
    },
  )
}
await app.register(plugin)

const jsonSchema = app.withTypeProvider<JsonSchemaToTsProvider>()
await new AuthService().install(jsonSchema)

jsonSchema.get(
  '/:tenant/table',
  {
    schema: {
      querystring: {
        type: 'object',
        properties: { seats: { type: 'integer' } },
        required: ['seats'],
        additionalProperties: false,
      },
    },
    config: { tenant: 'required', resources: true },
  },
  async (request) => {
    expectType(request.query).is<{ seats: number }>()
    expectType(request.tenant).is<string>()
    expectType(request.resources).is<ReadonlySet<string>>()
    expectType(request.userInfo).is<undefined>()
    expectType(authorizationOf(request)).is<Authorization | null>()
    expectType(tenantOf(request)).is<string | null | undefined>()
  },
)
