import type {
  FastifyRequest,
  FastifySchema,
  FastifyTypeProviderDefault,
  RawRequestDefaultExpression,
  RawServerDefault,
  RouteGenericInterface,
} from 'fastify'
import type { RouteDeclaration } from '../declaration/declaration.ts'

/**
 * A request of a route that declares this in its `config`, for a handler in another file. The route
 * may declare more.
 * @typeParam Declaration what the route declares, or `typeof` a constant that its `config` is
 * @typeParam RouteGeneric its `Body`, `Querystring`, `Params` and `Headers`, as Fastify's
 * `app.get<…>` takes them
 * @example
 * const menu = async (request: GuardedRequest<{ tenant: 'required' }>) => menuOf(request.tenant)
 */
export type GuardedRequest<
  Declaration extends RouteDeclaration,
  RouteGeneric extends RouteGenericInterface = RouteGenericInterface,
> = FastifyRequest<
  RouteGeneric,
  RawServerDefault,
  RawRequestDefaultExpression,
  FastifySchema,
  FastifyTypeProviderDefault,
  Declaration
>
